import { MASKED_LOGIT } from '../checks.ts';
import type { TypedArray } from '../kernels.ts';

/**
 * log softmax(logits / temperature) of the `width` logits at `offset`, into `out` at `outOffset`; -Infinity where the
 * logit is masked. The largest term is left out of the sum, so that log1p keeps the digits of near-certain actions.
 * @returns logsumexp of logits / temperature; -Infinity if every action is masked.
 */
export function logSoftmax(
  logits: TypedArray,
  offset: number,
  width: number,
  temperature: number,
  out: Float64Array,
  outOffset = 0,
): number {
  let best = 0;
  for (let v = 1; v < width; v++) if (logits[offset + v]! > logits[offset + best]!) best = v;
  const top = logits[offset + best]!;
  if (top <= MASKED_LOGIT) {
    out.fill(-Infinity, outOffset, outOffset + width);
    return -Infinity;
  }
  let others = 0;
  for (let v = 0; v < width; v++) {
    const logit = logits[offset + v]!;
    const z = logit <= MASKED_LOGIT ? -Infinity : (logit - top) / temperature;
    out[outOffset + v] = z;
    if (v !== best) others += Math.exp(z);
  }
  const logNormaliser = Math.log1p(others);
  for (let v = 0; v < width; v++) out[outOffset + v] = out[outOffset + v]! - logNormaliser;
  return top / temperature + logNormaliser;
}

/** -sum p log p in nats of `width` log-probabilities, with 0 log 0 = 0. */
export function entropyOf(logp: Float64Array, width: number): number {
  let entropy = 0;
  for (let v = 0; v < width; v++) {
    const p = Math.exp(logp[v]!);
    if (p > 0) entropy -= p * logp[v]!;
  }
  return entropy;
}

/** Throws unless `action` is an index below `width`. */
export function checkAction(operation: string, action: number, row: number, width: number): void {
  if (action < 0 || action >= width) {
    throw new RangeError(`${operation}: action ${action} at row ${row}, must be from 0 to ${width - 1}`);
  }
}

/** logits [N, V], actions [N] -> log-probability, logsumexp and entropy [N], in nats. */
export function logProbRows(logits: TypedArray, actions: TypedArray, width: number, temperature: number) {
  const rows = actions.length;
  const logProb = new Float64Array(rows);
  const logsumexp = new Float64Array(rows);
  const entropy = new Float64Array(rows);
  const logp = new Float64Array(width);
  for (let n = 0; n < rows; n++) {
    checkAction('logProb', actions[n]!, n, width);
    logsumexp[n] = logSoftmax(logits, n * width, width, temperature, logp);
    logProb[n] = logp[actions[n]!]!;
    entropy[n] = entropyOf(logp, width);
  }
  return { logProb, logsumexp, entropy };
}
