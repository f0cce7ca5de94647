import { useMemo, useRef } from 'react';
import type { SatEvent } from '../../runs/events.ts';
import { RunFold } from '../folds/runFold.ts';

/**
 * The chart series of a growing log: folds only the events that are new since the last render, and starts over when
 * the log is another one.
 *
 * @param events append-only, the same array for the whole run
 * @param eventCount its length, which tells React that it grew
 */
export function useRunFold(events: readonly SatEvent[], eventCount: number): RunFold {
  const kept = useRef<RunFold>(null);
  return useMemo(() => {
    if (kept.current === null || !kept.current.continues(events)) kept.current = new RunFold();
    if (kept.current.size < eventCount) kept.current.extend(events);
    return kept.current;
  }, [events, eventCount]);
}
