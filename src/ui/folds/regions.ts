import type { RegionPoint } from './runFold.ts';
import { thin } from './thin.ts';

/** The trust regions of one stage, by agent; null where an agent has not been updated (yet). */
export interface RegionRow {
  /** From 1, as people count. */
  readonly stage: number;
  readonly cells: readonly (RegionPoint | null)[];
}

/** Each row carries a mark per agent, so there are fewer than in a plain line. */
const MOST_ROWS = 150;

/** One row a stage, thinned to about 150 with the extremes and gaps of every agent's KL kept. */
export function regionRows(regions: readonly RegionPoint[], agents: number): readonly RegionRow[] {
  const rows: { stage: number; cells: (RegionPoint | null)[] }[] = [];
  for (const point of regions) {
    let row = rows.at(-1);
    if (row?.stage !== point.stage + 1) {
      row = { stage: point.stage + 1, cells: new Array<RegionPoint | null>(agents).fill(null) };
      rows.push(row);
    }
    row.cells[point.agent] = point;
  }
  return thin<RegionRow>(
    rows,
    Array.from({ length: agents }, (_, agent) => (row: RegionRow) => row.cells[agent]?.quantile ?? null),
    MOST_ROWS,
  );
}

/** Top of the KL axis: the largest radius and every accepted quantile fit; wild proposals may not. */
export function regionTop(rows: readonly RegionRow[]): number {
  let top = 0;
  for (const { cells } of rows) {
    for (const cell of cells) {
      if (cell === null) continue;
      top = Math.max(top, 2 * (cell.delta ?? 0), cell.accepted ? 1.1 * (cell.quantile ?? 0) : 0);
    }
  }
  return top > 0 ? top : 1;
}

/** The newest point of every agent that has one, by agent. */
export function newestRegions(regions: readonly RegionPoint[], agents: number): readonly RegionPoint[] {
  const found = new Map<number, RegionPoint>();
  for (let at = regions.length - 1; at >= 0 && found.size < agents; at--) {
    const point = regions[at]!;
    if (!found.has(point.agent)) found.set(point.agent, point);
  }
  return [...found.values()].sort((a, b) => a.agent - b.agent);
}
