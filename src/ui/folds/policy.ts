import type { Artifact } from '../../runs/events.ts';

type PolicyArtifact = Extract<Artifact, { kind: 'policy' }>;

/** One state of an agent: its distribution before and after an update. */
export interface PolicyRow {
  readonly state: string;
  readonly before: readonly number[];
  readonly after: readonly number[];
}

export interface PolicyTable {
  readonly actions: readonly string[];
  readonly rows: readonly PolicyRow[];
  /** Actions left out because they hardly moved. */
  readonly hidden: number;
  /** The entry that moved most. */
  readonly largest: {
    readonly state: string;
    readonly action: string;
    readonly before: number;
    readonly after: number;
  } | null;
}

/** Of `rows`, the `count` whose distribution moved most (by total variation), in their own order. */
export function mostMoved(rows: readonly PolicyRow[], count: number): readonly PolicyRow[] {
  if (rows.length <= count) return rows;
  const distance = rows.map(
    ({ before, after }) => 0.5 * before.reduce((sum, p, a) => sum + Math.abs(after[a]! - p), 0),
  );
  return Array.from(rows.keys())
    .sort((a, b) => distance[b]! - distance[a]! || a - b)
    .slice(0, count)
    .sort((a, b) => a - b)
    .map((at) => rows[at]!);
}

/** Most actions shown side by side. */
const MOST_ACTIONS = 24;

/** The distributions row by row; of many actions, those that moved most at some state, in their own order. */
export function policyTable({ states, actions, before, after }: PolicyArtifact): PolicyTable {
  const V = actions.length;
  const moved = new Float64Array(V);
  let largest = -1;
  for (let at = 0; at < states.length * V; at++) {
    const change = Math.abs(after[at]! - before[at]!);
    moved[at % V] = Math.max(moved[at % V]!, change);
    if (largest < 0 || change > Math.abs(after[largest]! - before[largest]!)) largest = at;
  }
  const shown = Array.from(moved.keys())
    .sort((a, b) => moved[b]! - moved[a]! || a - b)
    .slice(0, MOST_ACTIONS)
    .sort((a, b) => a - b);
  const row = (values: Float64Array, s: number) => shown.map((a) => values[s * V + a]!);
  return {
    actions: shown.map((a) => actions[a]!),
    rows: states.map((state, s) => ({ state, before: row(before, s), after: row(after, s) })),
    hidden: V - shown.length,
    largest:
      largest < 0
        ? null
        : {
            state: states[Math.floor(largest / V)]!,
            action: actions[largest % V]!,
            before: before[largest]!,
            after: after[largest]!,
          },
  };
}
