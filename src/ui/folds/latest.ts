import type { SatEvent } from '../../runs/events.ts';

/** The newest event of a kind among the first `cursor`, of one agent if given. Reads backwards and stops at the first. */
export function latest<K extends SatEvent['kind']>(
  events: readonly SatEvent[],
  cursor: number,
  kind: K,
  agent?: number,
): Extract<SatEvent, { kind: K }> | undefined {
  for (let at = Math.min(cursor, events.length) - 1; at >= 0; at--) {
    const event = events[at]!;
    if (!isKind(event, kind)) continue;
    if (agent === undefined || ('agent' in event && event.agent === agent)) return event;
  }
  return undefined;
}

function isKind<K extends SatEvent['kind']>(
  event: SatEvent,
  kind: K,
): event is Extract<SatEvent, { kind: K }> {
  return event.kind === kind;
}
