import type { KlQuantile, TypedArray } from '../kernels.ts';
import { interpolate, quantilePosition } from '../quantile.ts';

/** Order statistics, violations, largest and mean of the masked-in divergences. Throws on NaN. */
export function klQuantile(
  values: TypedArray,
  mask: TypedArray | undefined,
  alpha: number,
  delta: number,
): KlQuantile {
  const sorted = Float64Array.from(values).filter((_, n) => mask?.[n] !== 0);
  const bad = sorted.findIndex(Number.isNaN);
  if (bad >= 0) throw new Error('klQuantile: a divergence is NaN, must be >= 0 or Infinity');
  sorted.sort();
  const count = sorted.length;
  if (count === 0) return { count, linear: 0, higher: 0, violationCount: 0, max: 0, mean: 0 };
  const { low, high, fraction } = quantilePosition(count, alpha);
  return {
    count,
    linear: interpolate(sorted[low]!, sorted[high]!, fraction),
    higher: sorted[high]!,
    violationCount: sorted.filter((x) => x > delta).length,
    max: sorted[count - 1]!,
    mean: sorted.reduce((sum, x) => sum + x, 0) / count,
  };
}
