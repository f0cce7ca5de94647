import type { TypedArray } from '../kernels.ts';
import { NUCLEUS_SLACK } from '../nucleus.ts';
import { type RngKey, threefry2x32, uniformFromBits } from '../rng.ts';
import { logSoftmax } from './logProb.ts';

/** Probabilities with all but the nucleus set to 0: the fewest most likely actions with mass >= topP, ties by index. */
function nucleus(probabilities: Float64Array, topP: number): Float64Array {
  if (topP >= 1) return probabilities;
  const order = Array.from(probabilities.keys());
  order.sort((a, b) => probabilities[b]! - probabilities[a]! || a - b);
  const kept = new Float64Array(probabilities.length);
  let mass = 0;
  for (const action of order) {
    if (mass >= topP - NUCLEUS_SLACK) break;
    kept[action] = probabilities[action]!;
    mass += probabilities[action]!;
  }
  return kept;
}

/** First action whose cumulative weight exceeds uniform * total; -1 if every weight is 0. */
function inverseCdf(weights: Float64Array, uniform: number): number {
  const target = uniform * weights.reduce((sum, w) => sum + w, 0);
  let cumulative = 0;
  let last = -1;
  for (let v = 0; v < weights.length; v++) {
    if (weights[v] === 0) continue;
    cumulative += weights[v]!;
    last = v;
    if (cumulative > target) break;
  }
  return last;
}

/**
 * Draws one action a row from softmax(logits / temperature), truncated to its nucleus, by inversion of the cumulative
 * distribution in index order. A row without a possible action gives -1 with log-probability -Infinity.
 */
export function sampleRows(
  logits: TypedArray,
  width: number,
  temperature: number,
  topP: number,
  key: RngKey,
  firstCounter: number,
) {
  const rows = logits.length / width;
  const actions = new Int32Array(rows);
  const logProb = new Float64Array(rows);
  const logp = new Float64Array(width);
  for (let n = 0; n < rows; n++) {
    logSoftmax(logits, n * width, width, temperature, logp);
    const uniform = uniformFromBits(threefry2x32(key, [firstCounter + n, 0])[0]);
    const action = inverseCdf(nucleus(logp.map(Math.exp), topP), uniform);
    actions[n] = action;
    logProb[n] = logp[action] ?? -Infinity;
  }
  return { actions, logProb };
}
