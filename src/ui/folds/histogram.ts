export interface Bin {
  readonly from: number;
  readonly to: number;
  /** Sum of weights. */
  readonly count: number;
}

/**
 * Equal bins of `values` over [low, high]; values outside count in the nearest bin, so that the counts add up.
 * Non-finite values are left out.
 *
 * @param weights one a value; 1 each if absent
 * @throws {RangeError} if the range is empty or `bins` is not at least 1
 */
export function histogram(
  values: Float64Array,
  low: number,
  high: number,
  bins: number,
  weights?: Float64Array,
): Bin[] {
  if (!(high > low)) throw new RangeError(`histogram: range given ${low} to ${high}; must be increasing`);
  if (!(bins >= 1)) throw new RangeError(`histogram: ${bins} bins given; must be at least 1`);
  const counts = new Float64Array(bins);
  const width = (high - low) / bins;
  values.forEach((value, n) => {
    if (!Number.isFinite(value)) return;
    const bin = Math.min(bins - 1, Math.max(0, Math.floor((value - low) / width)));
    counts[bin]! += weights?.[n] ?? 1;
  });
  return Array.from(counts, (count, bin) => ({
    from: low + bin * width,
    to: low + (bin + 1) * width,
    count,
  }));
}

/** Round numbers that cover [low, high] in about `count` steps of 1, 2 or 5 times a power of ten. */
export function niceTicks(low: number, high: number, count = 5): number[] {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [low];
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((multiple) => multiple * power >= rough * 0.999) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, k) => Number(((first + k) * step).toPrecision(12)));
}
