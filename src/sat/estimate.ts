import type { Estimate } from '../runs/events.ts';

/** Two-sided 95 % quantile of the standard normal. */
const Z_95 = 1.959963984540054;

/** A number known by enumeration. */
export function exactly(value: number): Estimate {
  return { value, halfWidth: 0, kind: 'exact' };
}

/** The mean of independent samples with its normal 95 % interval; one sample has no spread to speak of: half-width 0. */
export function meanEstimate(samples: ArrayLike<number>): Estimate {
  const count = samples.length;
  let sum = 0;
  for (let k = 0; k < count; k++) sum += samples[k]!;
  const mean = sum / count;
  let squares = 0;
  for (let k = 0; k < count; k++) squares += (samples[k]! - mean) ** 2;
  const halfWidth = count > 1 ? Z_95 * Math.sqrt(squares / (count - 1) / count) : 0;
  return { value: mean, halfWidth, kind: 'estimated' };
}
