import type { BoundName } from '../../runs/events.ts';
import { boundNames, type UpdatePoint } from './runFold.ts';
import { thin } from './thin.ts';

/** A row of the improvement chart in its view of levels; all in units of J. Update 0 is where the run starts. */
export interface LevelRow {
  readonly update: number;
  readonly J: number | null;
  readonly interval: readonly [number, number] | null;
  /** Certified: J before the update plus the bound. */
  readonly paper: number | null;
  readonly best: number | null;
  /** J, where the update was rejected. */
  readonly rejected: number | null;
  readonly point: UpdatePoint | null;
}

/** J after every update with what was certified for it, thinned to about 300 rows. */
export function levelRows(updates: readonly UpdatePoint[]): readonly LevelRow[] {
  const first = updates[0];
  if (first === undefined) return [];
  const rows = updates.map(
    (point): LevelRow => ({
      update: point.update,
      J: point.J,
      interval: point.interval,
      paper: point.paperLevel,
      best: point.bestLevel,
      rejected: point.accepted ? null : point.J,
      point,
    }),
  );
  const start = first.J === null || first.dJ === null ? null : first.J - first.dJ;
  const empty = { interval: null, paper: null, best: null, rejected: null, point: null };
  return thin(
    [{ update: 0, J: start, ...empty }, ...rows],
    [(row) => row.J, (row) => row.best, (row) => row.paper],
  );
}

/** Changes per update, thinned to about 300 rows. */
export function changeRows(updates: readonly UpdatePoint[]): readonly UpdatePoint[] {
  return thin(updates, [(row) => row.dJ, (row) => row.bounds[row.best], (row) => row.bounds.paper]);
}

export interface Domain {
  readonly low: number;
  readonly high: number;
}

/**
 * A range of the vertical axis that shows the curves `must` whole, and of those in `may` as much as fits in three times
 * the height of `must`: a bound far below everything must not flatten the rest. `whole` shows all of it.
 */
export function domainOf(
  must: readonly (number | null)[],
  may: readonly (number | null)[],
  whole: boolean,
): Domain {
  const known = must.filter((value) => value !== null);
  const others = may.filter((value) => value !== null);
  const [low, high] = extent(known.length > 0 ? known : others);
  const span = Math.max(high - low, 0.02 * Math.max(Math.abs(low), Math.abs(high)), 1e-9);
  const [lowest, highest] = extent([low, high, ...others]);
  const bottom = whole ? lowest : Math.max(lowest, low - 2 * span);
  const top = whole ? highest : Math.min(highest, high + 2 * span);
  const margin = 0.06 * Math.max(top - bottom, span);
  return { low: bottom - margin, high: top + margin };
}

function extent(values: readonly number[]): readonly [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low <= high ? [low, high] : [0, 1];
}

/** The bounds that can never be positive at this run's discount. */
export function vacuousBounds(updates: readonly UpdatePoint[]): readonly BoundName[] {
  const last = updates.at(-1);
  return boundNames.filter((name) => last?.vacuous.includes(name) ?? false);
}
