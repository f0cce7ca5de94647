import type { KlDirection, TypedArray } from '../kernels.ts';
import { logSoftmax } from './logProb.ts';

/** Below this |d| the series is used; its first omitted term is then under 1e-16 of the result. */
const SMALL_DIFFERENCE = 0.01;

/** exp(-d) - 1 + d >= 0 for small d, without the cancellation of that expression. */
function excessSeries(d: number): number {
  return ((d * d) / 2) * (1 - (d / 3) * (1 - (d / 4) * (1 - (d / 5) * (1 - (d / 6) * (1 - d / 7)))));
}

/**
 * One action's share p d + q - p of KL(p || q), d = log p - log q. The extra q - p sums to 0 over a row; it makes every
 * share non-negative and cancels first-order rounding in the normalisers, so a KL of 1e-12 keeps its digits.
 */
function klShare(logP: number, logQ: number): number {
  if (logP === -Infinity) return Math.exp(logQ);
  if (logQ === -Infinity) return Infinity;
  const d = logP - logQ;
  const p = Math.exp(logP);
  return Math.abs(d) < SMALL_DIFFERENCE ? p * excessSeries(d) : Math.exp(logQ) + p * (d - 1);
}

/** KL(p || q) >= 0 in nats of two rows of log-probabilities; 0 if p has no possible action. */
export function klOfRow(logP: Float64Array, logQ: Float64Array, width: number, offset = 0): number {
  let kl = 0;
  let possible = false;
  for (let v = offset; v < offset + width; v++) {
    possible ||= logP[v] !== -Infinity;
    kl += klShare(logP[v]!, logQ[v]!);
  }
  return possible ? kl : 0;
}

/**
 * Adds `scale` times the gradient of KL(tar || cur) with respect to the logits behind `logTar`, times the temperature,
 * to `out`: p (d - sum p d). Adds nothing if the KL is infinite: no gradient is finite there.
 */
export function addKlTarCurGradient(
  logTar: Float64Array,
  logCur: Float64Array,
  width: number,
  offset: number,
  scale: number,
  out: Float64Array,
  outOffset: number,
): void {
  let mean = 0;
  for (let v = offset; v < offset + width; v++) {
    if (logTar[v] === -Infinity) continue;
    if (logCur[v] === -Infinity) return;
    mean += Math.exp(logTar[v]!) * (logTar[v]! - logCur[v]!);
  }
  for (let v = 0; v < width; v++) {
    const logP = logTar[offset + v]!;
    if (logP === -Infinity) continue;
    out[outOffset + v] = out[outOffset + v]! + scale * Math.exp(logP) * (logP - logCur[offset + v]! - mean);
  }
}

/** Adds `scale` times the same for KL(cur || tar): p_tar - p_cur, 0 at masked logits; nothing if the KL is infinite. */
function addKlCurTarGradient(
  logTar: Float64Array,
  logCur: Float64Array,
  width: number,
  scale: number,
  out: Float64Array,
  outOffset: number,
): void {
  for (let v = 0; v < width; v++) if (logTar[v] === -Infinity && logCur[v] !== -Infinity) return;
  for (let v = 0; v < width; v++) {
    if (logTar[v] === -Infinity) continue;
    const pCur = Math.exp(logCur[v]!);
    const change = pCur === 0 ? Math.exp(logTar[v]!) : pCur * Math.expm1(logTar[v]! - logCur[v]!);
    out[outOffset + v] = out[outOffset + v]! + scale * change;
  }
}

/** logits [N, V] of both policies -> KL [N] in the given direction, and with `gradWeight` [N] the gradient [N, V]. */
export function klRows(
  logitsTar: TypedArray,
  logitsCur: TypedArray,
  width: number,
  temperature: number,
  direction: KlDirection,
  gradWeight?: TypedArray,
) {
  const rows = logitsTar.length / width;
  const kl = new Float64Array(rows);
  const grad = gradWeight ? new Float64Array(rows * width) : undefined;
  const logTar = new Float64Array(width);
  const logCur = new Float64Array(width);
  for (let n = 0; n < rows; n++) {
    logSoftmax(logitsTar, n * width, width, temperature, logTar);
    logSoftmax(logitsCur, n * width, width, temperature, logCur);
    const forward = direction === 'tar-cur';
    kl[n] = forward ? klOfRow(logTar, logCur, width) : klOfRow(logCur, logTar, width);
    if (!grad || !gradWeight) continue;
    const scale = gradWeight[n]! / temperature;
    if (forward) addKlTarCurGradient(logTar, logCur, width, 0, scale, grad, n * width);
    else addKlCurTarGradient(logTar, logCur, width, scale, grad, n * width);
  }
  return { kl, grad };
}
