/**
 * Fewer rows of a chart, chosen so that what a reader would look for survives: in every bucket of consecutive rows the
 * smallest and the largest value of each series, and a row where it is missing, so that gaps stay gaps. First and last
 * rows always stay. Rows are returned unchanged and in order; at most about `max` of them.
 *
 * @param read the series: each gives a row's value, null where it is missing
 * @param max at least 2; kept exactly where a bucket per series fits
 */
export function thin<Row>(
  rows: readonly Row[],
  read: readonly ((row: Row) => number | null)[],
  max = 300,
): readonly Row[] {
  if (rows.length <= max) return rows;
  const buckets = Math.max(1, Math.floor((max - 2) / (3 * read.length)));
  const keep = new Set([0, rows.length - 1]);
  for (let bucket = 0; bucket < buckets; bucket++) {
    const from = Math.floor((bucket * rows.length) / buckets);
    const to = Math.floor(((bucket + 1) * rows.length) / buckets);
    for (const value of read) {
      for (const at of extremes(rows, value, from, to)) keep.add(at);
    }
  }
  return [...keep].sort((a, b) => a - b).map((at) => rows[at]!);
}

/** Positions in [from, to) of the smallest value, the largest, and the first missing one. */
function extremes<Row>(
  rows: readonly Row[],
  value: (row: Row) => number | null,
  from: number,
  to: number,
): number[] {
  let [least, most, missing] = [-1, -1, -1];
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = from; at < to; at++) {
    const here = value(rows[at]!);
    if (here === null) {
      if (missing < 0) missing = at;
      continue;
    }
    if (here < low) [low, least] = [here, at];
    if (here > high) [high, most] = [here, at];
  }
  return [least, most, missing].filter((at) => at >= 0);
}

/** How many rows of a seq-ordered list belong to the first `shown` events of the log. O(log n). */
export function countUpTo(rows: readonly { readonly seq: number }[], shown: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]!.seq < shown) low = middle + 1;
    else high = middle;
  }
  return low;
}
