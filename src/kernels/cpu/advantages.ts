import type { Trace, TypedArray } from '../kernels.ts';

/** Numbers and settings of one evaluation; shapes as in `AdvantageArgs`. */
export interface AdvantageInput {
  readonly batch: number;
  readonly steps: number;
  readonly rewards: TypedArray;
  readonly logpHat: TypedArray;
  readonly logpCur: TypedArray;
  readonly values: TypedArray;
  readonly lengths: TypedArray;
  readonly terminated: TypedArray;
  readonly gamma: number;
  readonly lambda: number;
  readonly trace: Trace;
}

/**
 * Truncated-importance-weighted multi-step advantages (SAT.md section 3): Retrace (1606.02647) and V-trace
 * (1802.01561) traces, both GAE(lambda) where every ratio is 1. Outputs as in `AdvantageResult`.
 */
export function advantages(input: AdvantageInput) {
  const { batch, steps, gamma, lambda } = input;
  const rho = new Float64Array(batch * steps);
  const c = new Float64Array(batch * steps);
  const delta = new Float64Array(batch * steps);
  const advantage = new Float64Array(batch * steps);
  const sequence = new Float64Array(batch);
  for (let b = 0; b < batch; b++) {
    const length = input.lengths[b]!;
    if (length < 1 || length > steps) {
      throw new RangeError(`advantages: length ${length} of sequence ${b}, must be from 1 to ${steps}`);
    }
    const valueAt = (t: number) => input.values[b * (steps + 1) + t]!;
    let nextAdvantage = 0;
    let nextC = 0;
    for (let t = length - 1; t >= 0; t--) {
      const row = b * steps + t;
      const hat = input.logpHat[row]!;
      const cur = input.logpCur[row]!;
      rho[row] = hat === cur ? 1 : Math.exp(hat - cur);
      c[row] = Math.min(1, rho[row]!);
      const bootstrap = t === length - 1 && input.terminated[b] !== 0 ? 0 : valueAt(t + 1);
      delta[row] = input.rewards[row]! + gamma * bootstrap - valueAt(t);
      advantage[row] =
        input.trace === 'retrace'
          ? delta[row]! + gamma * lambda * nextC * nextAdvantage
          : c[row]! * (delta[row]! + gamma * lambda * nextAdvantage);
      nextAdvantage = advantage[row]!;
      nextC = c[row]!;
    }
    for (let t = 0; t < length; t++) sequence[b] = sequence[b]! + advantage[b * steps + t]!;
  }
  return { rho, c, delta, advantage, sequence };
}
