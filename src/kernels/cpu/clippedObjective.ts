import type { TypedArray } from '../kernels.ts';
import { addKlTarCurGradient, klOfRow } from './kl.ts';
import { checkAction, logSoftmax } from './logProb.ts';

/** Numbers and settings of one evaluation; shapes as in `ClippedObjectiveArgs`, V = width. */
export interface ClippedObjectiveInput {
  readonly batch: number;
  readonly steps: number;
  readonly width: number;
  readonly logitsTar: TypedArray;
  readonly logitsCur: TypedArray;
  readonly actions: TypedArray;
  readonly active: TypedArray;
  readonly advantages: TypedArray;
  readonly klWeight: TypedArray;
  readonly epsLow: number;
  readonly epsHigh: number;
  readonly beta: number;
  readonly temperature: number;
}

/** Log-probabilities [T, V] of the sequence in hand, reused from one sequence to the next. */
interface Scratch {
  readonly logTar: Float64Array;
  readonly logCur: Float64Array;
}

/** log pi_tar(a) - log pi_cur(a); 0 where the action is impossible under both, which is no change. */
function logRatio(logTar: number, logCur: number): number {
  return logTar === logCur ? 0 : logTar - logCur;
}

/** ratio * A, with 0 for A = 0 also where the ratio is infinite. */
function weighted(ratio: number, advantage: number): number {
  return advantage === 0 ? 0 : ratio * advantage;
}

/** The clipped surrogate of one sequence (SAT.md section 4) and its derivative with respect to u. */
function surrogate(u: number, advantage: number, low: number, high: number) {
  const ratio = Math.exp(u);
  const ratioClipped = Math.exp(Math.min(Math.max(u, low), high));
  const plain = weighted(ratio, advantage);
  const clippedValue = weighted(ratioClipped, advantage);
  const clipped = clippedValue < plain;
  // An overflowed ratio keeps a finite slope: Infinity times a zero probability would be NaN.
  const slope = clipped ? 0 : Math.max(-Number.MAX_VALUE, plain);
  return { ratio, ratioClipped, objective: clipped ? clippedValue : plain, clipped, slope };
}

/** Fills `scratch` and `kl` for the active steps of sequence b; returns u and whether the agent acts at all. */
function forwardSequence(input: ClippedObjectiveInput, b: number, scratch: Scratch, kl: Float64Array) {
  const { steps, width, temperature } = input;
  const { logTar, logCur } = scratch;
  let u = 0;
  let acts = false;
  for (let t = 0; t < steps; t++) {
    const row = b * steps + t;
    if (input.active[row] === 0) continue;
    acts = true;
    checkAction('clippedObjective', input.actions[row]!, row, width);
    logSoftmax(input.logitsTar, row * width, width, temperature, logTar, t * width);
    logSoftmax(input.logitsCur, row * width, width, temperature, logCur, t * width);
    const at = t * width + input.actions[row]!;
    const change = logRatio(logTar[at]!, logCur[at]!);
    // A sequence that pi_tar cannot produce has ratio 0, whatever its other steps say.
    u = u === -Infinity || change === -Infinity ? -Infinity : u + change;
    kl[row] = klOfRow(logTar, logCur, width, t * width);
  }
  return { u, acts };
}

/** Adds `scale` times the gradient of log pi(action), times the temperature: 1[a] - p at possible actions. */
function addLogProbGradient(
  logp: Float64Array,
  logpOffset: number,
  action: number,
  width: number,
  scale: number,
  out: Float64Array,
  outOffset: number,
): void {
  for (let v = 0; v < width; v++) {
    const logP = logp[logpOffset + v]!;
    if (logP === -Infinity) continue;
    // expm1 keeps the digits of 1 - p for a near-certain action.
    const score = v === action ? -Math.expm1(logP) : -Math.exp(logP);
    out[outOffset + v] = out[outOffset + v]! + scale * score;
  }
}

/** Adds sequence b's part of the loss gradient to `dlogits`; `slope` is the derivative of its objective by u. */
function backwardSequence(
  input: ClippedObjectiveInput,
  b: number,
  slope: number,
  scratch: Scratch,
  dlogits: Float64Array,
) {
  const { batch, steps, width, temperature, beta } = input;
  const { logTar, logCur } = scratch;
  for (let t = 0; t < steps; t++) {
    const row = b * steps + t;
    if (input.active[row] === 0) continue;
    const scale = -slope / batch / temperature;
    addLogProbGradient(logTar, t * width, input.actions[row]!, width, scale, dlogits, row * width);
    const penalty = (beta * input.klWeight[row]!) / temperature;
    if (penalty !== 0) addKlTarCurGradient(logTar, logCur, width, t * width, penalty, dlogits, row * width);
  }
}

/** sum_n weight_n kl_n, where a weight of 0 leaves out an infinite KL. */
function weightedSum(weight: TypedArray, kl: Float64Array): number {
  return kl.reduce((sum, x, n) => (weight[n] === 0 || x === 0 ? sum : sum + weight[n]! * x), 0);
}

/** The clipped sequence objective of one agent with its gradient; outputs as in `ClippedObjectiveResult`. */
export function clippedObjective(input: ClippedObjectiveInput) {
  const { batch, steps, width, beta } = input;
  const low = Math.log1p(-input.epsLow);
  const high = Math.log1p(input.epsHigh);
  const u = new Float64Array(batch);
  const ratio = new Float64Array(batch);
  const ratioClipped = new Float64Array(batch);
  const objective = new Float64Array(batch);
  const kl = new Float64Array(batch * steps);
  const dlogits = new Float64Array(batch * steps * width);
  const scratch = { logTar: new Float64Array(steps * width), logCur: new Float64Array(steps * width) };
  let clipped = 0;
  let outside = 0;
  for (let b = 0; b < batch; b++) {
    const sequence = forwardSequence(input, b, scratch, kl);
    const value = surrogate(sequence.u, input.advantages[b]!, low, high);
    u[b] = sequence.u;
    ratio[b] = value.ratio;
    ratioClipped[b] = value.ratioClipped;
    if (!sequence.acts) continue;
    objective[b] = value.objective;
    if (value.clipped) clipped++;
    if (sequence.u < low || sequence.u > high) outside++;
    backwardSequence(input, b, value.slope, scratch, dlogits);
  }
  const share = (sum: number) => (batch === 0 ? 0 : sum / batch);
  const meanObjective = share(objective.reduce((sum, x) => sum + x, 0));
  const meanKl = weightedSum(input.klWeight, kl);
  const loss = (beta === 0 ? 0 : beta * meanKl) - meanObjective;
  const stats = Float64Array.of(meanObjective, meanKl, loss, share(clipped), share(outside));
  return { u, ratio, ratioClipped, objective, kl, dlogits, stats };
}
