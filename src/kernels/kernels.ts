/**
 * The numerical kernels of SAT, as one interface with two backends: `cpu` (plain TypeScript, float64 arithmetic) and
 * `webgpu` (shaders/*.wgsl, float32). Formulas: docs/algorithm.md; both backends pass the same golden vectors.
 *
 * Contract shared by all operations:
 * - Operations are enqueued in call order; results exist as handles at once and as numbers after `read`.
 * - The caller owns every tensor it creates or receives and gives it back with `release`.
 * - Row-major layout. N rows of V logits; B sequences of T steps, where row (b, t) is row b * T + t.
 * - A logit of -Infinity (or <= -1e30) marks an impossible action: probability 0, nothing added to sums, gradient 0.
 * - Every softmax is of logits / temperature, temperature > 0. Gradients are with respect to the raw logits.
 * - A shape that does not fit throws a `RangeError` that names the operation, what was given and what is allowed.
 */

import type { RngKey } from './rng.ts';

export type Backend = 'cpu' | 'webgpu';

/** Element type. The webgpu backend stores `f64` as float32. */
export type DType = 'f64' | 'f32' | 'i32' | 'u32';

export type TypedArray = Float64Array | Float32Array | Int32Array | Uint32Array;

/** A handle on numbers that a backend owns. Never shared between backends. */
export interface Tensor {
  readonly backend: Backend;
  readonly shape: readonly number[];
  /** Number of elements: the product of `shape`. */
  readonly size: number;
  readonly dtype: DType;
  /** For debuggers and error messages. */
  readonly label: string;
}

export interface LogProbResult {
  /** [N] log pi(action); -Infinity for an impossible action (cpu), <= -1e30 (webgpu). */
  readonly logProb: Tensor;
  /** [N] logsumexp of logits / temperature. */
  readonly logsumexp: Tensor;
  /** [N] entropy in nats, 0 log 0 = 0. */
  readonly entropy: Tensor;
}

/** `tar-cur` is KL(pi_tar || pi_cur), the trust region's direction; `cur-tar` the reverse. */
export type KlDirection = 'tar-cur' | 'cur-tar';

export interface KlArgs {
  /** [N, V] */
  readonly logitsTar: Tensor;
  /** [N, V] */
  readonly logitsCur: Tensor;
  readonly temperature: number;
  readonly direction: KlDirection;
  /** [N] weights w_n of the scalar sum_n w_n KL_n whose gradient is wanted. */
  readonly gradWeight?: Tensor;
}

export interface KlResult {
  /** [N] KL in nats, >= 0, Infinity where the first policy has mass on an action impossible under the second. */
  readonly kl: Tensor;
  /** [N, V] gradient of sum_n w_n KL_n with respect to logitsTar, 0 in rows of infinite KL; only if `gradWeight` was given. */
  readonly grad?: Tensor;
}

export interface ClippedObjectiveArgs {
  /** B, T: logits are [B * T, V]. */
  readonly batch: number;
  readonly steps: number;
  /** [B * T, V] of pi^(j), the policy being optimised. */
  readonly logitsTar: Tensor;
  /** [B * T, V] of pi_cur^(j), fixed. */
  readonly logitsCur: Tensor;
  /** [B * T] i32; ignored where inactive. */
  readonly actions: Tensor;
  /** [B * T] i32 0/1: 1 where agent j acts. */
  readonly active: Tensor;
  /** [B], already normalised and clipped; constant. */
  readonly advantages: Tensor;
  /** [B * T] weights of the KL penalty; mean_kl = sum weight * kl. Usually active / (number of active steps). */
  readonly klWeight: Tensor;
  /** The clip band in log space is [log(1 - epsLow), log(1 + epsHigh)], epsLow in (0, 1). */
  readonly epsLow: number;
  readonly epsHigh: number;
  /** KL penalty coefficient, >= 0. */
  readonly beta: number;
  readonly temperature: number;
}

/** Scalars of one evaluation of the clipped sequence objective (SAT.md section 4). */
export interface ObjectiveStats {
  /** sum_tau objective / B, B counting every sequence. */
  readonly meanObjective: number;
  readonly meanKl: number;
  /** -(meanObjective - beta meanKl). */
  readonly loss: number;
  /** Share of the B sequences with an active step whose clipped branch is strictly smaller: no gradient. */
  readonly clipFraction: number;
  /** Share of the B sequences with u outside the band. */
  readonly outsideFraction: number;
}

export interface ClippedObjectiveResult {
  /** [B] sum over active steps of log pi_tar(a) - log pi_cur(a). */
  readonly u: Tensor;
  /** [B] exp(u) */
  readonly ratio: Tensor;
  /** [B] exp(clip(u, log(1 - epsLow), log(1 + epsHigh))) */
  readonly ratioClipped: Tensor;
  /** [B] min(ratio A, ratioClipped A); 0 for a sequence without an active step. */
  readonly objective: Tensor;
  /** [B * T] KL(pi_tar || pi_cur) at active steps, 0 elsewhere. */
  readonly kl: Tensor;
  /** [B * T, V] gradient of the loss with respect to logitsTar; exactly 0 at inactive steps. */
  readonly dlogits: Tensor;
  /** [5] meanObjective, meanKl, loss, clipFraction, outsideFraction; decode with `objectiveStats`. */
  readonly stats: Tensor;
}

/** Names the five numbers of `ClippedObjectiveResult.stats` after reading it. */
export function objectiveStats(values: Float64Array): ObjectiveStats {
  const [
    meanObjective = Number.NaN,
    meanKl = Number.NaN,
    loss = Number.NaN,
    clipFraction = Number.NaN,
    outsideFraction = Number.NaN,
  ] = values;
  return { meanObjective, meanKl, loss, clipFraction, outsideFraction };
}

export type Trace = 'retrace' | 'vtrace';

export interface AdvantageArgs {
  readonly batch: number;
  readonly steps: number;
  /** [B * T] */
  readonly rewards: Tensor;
  /** [B * T] joint log-probability of the heads active at t, under pi^_{i-1}. */
  readonly logpHat: Tensor;
  /** [B * T] the same under pi_cur. */
  readonly logpCur: Tensor;
  /** [B * (T + 1)] state values; zeros without a critic. */
  readonly values: Tensor;
  /** [B] i32 in 1..T; steps at or beyond it are padding: 0 in every output. */
  readonly lengths: Tensor;
  /** [B] i32 0/1: 1 = the episode ended (bootstrap value 0), 0 = it was cut off. */
  readonly terminated: Tensor;
  /** Discount in [0, 1]. */
  readonly gamma: number;
  /** Trace parameter in [0, 1]. */
  readonly lambda: number;
  readonly trace: Trace;
}

export interface AdvantageResult {
  /** [B * T] pi^_{i-1}(a_t|s_t) / pi_cur(a_t|s_t). */
  readonly rho: Tensor;
  /** [B * T] min(1, rho). */
  readonly c: Tensor;
  /** [B * T] TD errors. */
  readonly delta: Tensor;
  /** [B * T] */
  readonly advantage: Tensor;
  /** [B] sum over t of `advantage`. */
  readonly sequence: Tensor;
}

export interface GroupNormaliseArgs {
  /** [B] */
  readonly values: Tensor;
  /** [B] i32, arbitrary group ids. */
  readonly group: Tensor;
  /** Added to the population standard deviation, > 0. */
  readonly eps: number;
  /** A_clip > 0. */
  readonly clip: number;
}

export interface GroupNormaliseResult {
  /** [B] (x - mean) / (std + eps) within the group; exactly 0 in a group whose values are all equal. */
  readonly normalised: Tensor;
  /** [B] normalised, clipped to [-clip, clip]. */
  readonly clipped: Tensor;
}

export interface KlQuantileArgs {
  /** [N] divergences, >= 0, may contain Infinity. */
  readonly values: Tensor;
  /** [N] i32 0/1: rows to count; all if absent. */
  readonly mask?: Tensor;
  /** The monitored quantile is 1 - alpha, alpha in [0, 1]. */
  readonly alpha: number;
  /** Radius delta that a violation exceeds strictly. */
  readonly delta: number;
}

export interface KlQuantile {
  /** Rows counted. 0 rows: every number is 0. */
  readonly count: number;
  /** x_floor(h) + (h - floor h)(x_ceil(h) - x_floor(h)), h = (count - 1)(1 - alpha). */
  readonly linear: number;
  /** x_ceil(h): at most alpha * count values lie above it. */
  readonly higher: number;
  readonly violationCount: number;
  readonly max: number;
  readonly mean: number;
}

export interface SampleArgs {
  /** [N, V] */
  readonly logits: Tensor;
  readonly temperature: number;
  /** Nucleus mass in (0, 1]: sample from the smallest set of most likely actions with at least this mass. */
  readonly topP: number;
  /** Row n draws its uniform from `threefry2x32(key, [firstCounter + n, 0])[0]`. */
  readonly key: RngKey;
  readonly firstCounter: number;
}

export interface SampleResult {
  /** [N] i32; -1 in a row without a possible action. */
  readonly actions: Tensor;
  /** [N] log pi(action) at this temperature, before any nucleus truncation: the same function as `logProb`. */
  readonly logProb: Tensor;
}

export interface AdamWHyper {
  readonly lr: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number;
}

/** First and second moments, one tensor a parameter, and the number of steps taken. */
export interface AdamWState {
  readonly m: readonly Tensor[];
  readonly v: readonly Tensor[];
  step: number;
}

export interface Kernels {
  readonly backend: Backend;
  /** Human description of where this runs, e.g. the adapter's name. */
  readonly description: string;

  /** Copies `data` in. `dtype` defaults to that of `data`. */
  tensor(data: TypedArray, shape: readonly number[], label: string): Tensor;
  zerosLike(like: Tensor, label: string): Tensor;
  /** A new tensor with the same numbers. */
  copy(source: Tensor, label: string): Tensor;
  /** Overwrites `target` with `source`, bit for bit; same shape and dtype. */
  assign(target: Tensor, source: Tensor): void;
  /** The numbers of all `tensors`, in one readback. Integers arrive as doubles. */
  read(...tensors: readonly Tensor[]): Promise<Float64Array[]>;
  release(...tensors: readonly (Tensor | undefined)[]): void;

  logProb(args: { logits: Tensor; actions: Tensor; temperature: number }): LogProbResult;
  kl(args: KlArgs): KlResult;
  clippedObjective(args: ClippedObjectiveArgs): ClippedObjectiveResult;
  advantages(args: AdvantageArgs): AdvantageResult;
  groupNormalise(args: GroupNormaliseArgs): GroupNormaliseResult;
  klQuantile(args: KlQuantileArgs): Promise<KlQuantile>;
  sample(args: SampleArgs): SampleResult;

  /** [S, V] rows at `index` [N] i32 -> [N, V]. */
  gatherRows(table: Tensor, index: Tensor): Tensor;
  /** Sums rows [N, V] into their `index` [N] i32 -> [rows, V]; the order of summation is by n, so deterministic. */
  scatterAddRows(values: Tensor, index: Tensor, rows: number): Tensor;

  /** Scales `grads` in place to global norm <= maxNorm (g * min(1, maxNorm / (norm + 1e-6))) -> [1] norm before. */
  clipGradNorm(grads: readonly Tensor[], maxNorm: number): Tensor;
  /** One decoupled-decay Adam step on `params` and `state`, in place. `state.step` is incremented. Gradients are not clipped here. */
  adamw(params: readonly Tensor[], grads: readonly Tensor[], state: AdamWState, hyper: AdamWHyper): void;

  /** Resolves with a reason when the device is lost; never for cpu. */
  readonly lost: Promise<string>;
  /** Frees everything. The backend cannot be used afterwards. */
  dispose(): void;
}
