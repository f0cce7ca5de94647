import { useEffect, useRef } from 'react';
import type { Artifact, ArtifactId, SatEvent } from '../../runs/events.ts';
import { useApp } from '../store.ts';

interface WithArtifact<E extends SatEvent> {
  readonly event: E | undefined;
  /** Undefined while it is on its way, or where the run has dropped it. */
  readonly artifact: Artifact | undefined;
}

/**
 * An event with the larger data behind it. Asks for the data; until they arrive gives the pair shown last, so that a
 * running chart does not flicker, and an event never stands beside another one's data.
 *
 * @param log identity of the run: pairs of another run are forgotten
 * @param event undefined to ask for nothing
 */
export function useArtifactOf<E extends SatEvent>(
  log: readonly SatEvent[],
  event: E | undefined,
  id: ArtifactId | undefined,
): WithArtifact<E> {
  const request = useApp((state) => state.requestArtifact);
  const found = useApp((state) => (id === undefined ? undefined : state.artifacts.get(id)));
  const shown = useRef<{ log: readonly SatEvent[]; pair: WithArtifact<E> }>(null);
  const wanted = event !== undefined && found === undefined ? id : undefined;
  useEffect(() => {
    if (wanted !== undefined) request(wanted);
  }, [wanted, request]);
  const arrived = event !== undefined && found !== undefined && found.status !== 'pending';
  useEffect(() => {
    if (!arrived) return;
    const artifact = found.status === 'ready' ? found.artifact : undefined;
    shown.current = { log, pair: { event, artifact } };
  }, [arrived, event, found, log]);
  if (arrived) return { event, artifact: found.status === 'ready' ? found.artifact : undefined };
  const last = shown.current;
  return last !== null && last.log === log && event !== undefined
    ? last.pair
    : { event, artifact: undefined };
}
