import type { TypedArray } from '../kernels.ts';

function checkIndex(operation: string, index: number, n: number, rows: number): void {
  if (index < 0 || index >= rows) {
    throw new RangeError(`${operation}: index ${index} at ${n}, must be from 0 to ${rows - 1}`);
  }
}

/** table [S, V], index [N] -> rows [N, V], in float64. */
export function gatherRows(table: TypedArray, index: TypedArray, width: number): Float64Array {
  const out = new Float64Array(index.length * width);
  index.forEach((s, n) => {
    checkIndex('gatherRows', s, n, table.length / width);
    out.set(table.subarray(s * width, (s + 1) * width), n * width);
  });
  return out;
}

/** values [N, V], index [N] -> [rows, V], each row the sum of the values with its index, in order of n. */
export function scatterAddRows(
  values: TypedArray,
  index: TypedArray,
  width: number,
  rows: number,
): Float64Array {
  const out = new Float64Array(rows * width);
  index.forEach((s, n) => {
    checkIndex('scatterAddRows', s, n, rows);
    for (let v = 0; v < width; v++) out[s * width + v] = out[s * width + v]! + values[n * width + v]!;
  });
  return out;
}
