import type { TypedArray } from '../kernels.ts';

/** Mean and population standard deviation; a std of exactly 0 if and only if all values are equal. */
function spread(values: readonly number[]): { mean: number; std: number } {
  const first = values[0]!;
  if (values.every((x) => x === first)) return { mean: first, std: 0 };
  const mean = first + values.reduce((sum, x) => sum + (x - first), 0) / values.length;
  const largest = values.reduce((max, x) => Math.max(max, Math.abs(x - mean)), 0);
  // Scaled by the largest deviation, so that squares neither underflow nor overflow.
  const scaled = values.reduce((sum, x) => sum + ((x - mean) / largest) ** 2, 0) / values.length;
  return { mean, std: largest * Math.sqrt(scaled) };
}

/** values, group [B] -> (x - mean) / (std + eps) within its group, and the same clipped; exactly 0 without spread. */
export function groupNormalise(values: TypedArray, group: TypedArray, eps: number, clip: number) {
  const members = new Map<number, number[]>();
  group.forEach((id, b) => {
    const list = members.get(id);
    if (list) list.push(b);
    else members.set(id, [b]);
  });
  const normalised = new Float64Array(values.length);
  const clipped = new Float64Array(values.length);
  for (const indices of members.values()) {
    const { mean, std } = spread(indices.map((b) => values[b]!));
    if (std === 0) continue;
    for (const b of indices) {
      normalised[b] = (values[b]! - mean) / (std + eps);
      clipped[b] = Math.min(Math.max(normalised[b]!, -clip), clip);
    }
  }
  return { normalised, clipped };
}
