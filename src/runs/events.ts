/**
 * What a run says about itself: one event per micro-step of Algorithm 1, yielded by `runStage` and kept in the event
 * log. Events are small, JSON-safe and free of wall-clock times, so that one seed gives one log; numbers that are not
 * finite are written as null plus a reason elsewhere in the event. Larger arrays are artifacts, fetched by id.
 */

/** Steps of Algorithm 1 as docs/algorithm.md numbers them; the page lights the current one. */
export type AlgorithmLine =
  | 'rollout'
  | 'order'
  | 'intermediate'
  | 'advantages'
  | 'optimize'
  | 'check'
  | 'backtrack'
  | 'promote'
  | 'certificate';

/** Key of a larger array in the run's artifact store. */
export type ArtifactId = string;

/** An estimated number: mean with a normal 95 % interval half-width; `halfWidth` 0 when exact. */
export interface Estimate {
  readonly value: number;
  readonly halfWidth: number;
  /** `exact` by enumeration, `estimated` from samples. */
  readonly kind: 'exact' | 'estimated';
}

interface EventBase {
  /** Position in the log, from 0. */
  readonly seq: number;
  /** Stage number, from 0. */
  readonly stage: number;
  readonly line: AlgorithmLine;
}

export interface StageStartEvent extends EventBase {
  readonly kind: 'stageStart';
  /** J(pi_cur) at the start of the stage. */
  readonly J: Estimate;
  /** Share of solved episodes, for tasks with a verifier. */
  readonly success?: Estimate;
}

export interface RolloutEvent extends EventBase {
  readonly kind: 'rollout';
  readonly episodes: number;
  readonly groups: number;
  readonly groupSize: number;
  readonly meanReturn: Estimate;
  /** Episodes by reason of ending, e.g. { solved: 12, wrong: 52 }. */
  readonly endReasons: Readonly<Record<string, number>>;
  /** Groups whose returns are all equal: they give no gradient. */
  readonly flatGroups: number;
  /** Largest |log-prob when sampled - log-prob when recomputed|, nats. A health check: must be about 0. */
  readonly samplerDrift: number;
  /** Absent where exact advantages make sampling unnecessary. */
  readonly rollouts?: ArtifactId;
}

export interface OrderEvent extends EventBase {
  readonly kind: 'order';
  /** sigma: agent indices in update order. */
  readonly order: readonly number[];
  readonly rule: 'static' | 'random' | 'given';
}

export interface IntermediateEvent extends EventBase {
  readonly kind: 'intermediate';
  readonly agent: number;
  /** i, from 1. */
  readonly position: number;
  /** Agents already at their new policy in pi^_{i-1}. */
  readonly updated: readonly number[];
  /** J(pi^_{i-1}). */
  readonly J: Estimate;
}

export interface AdvantagesEvent extends EventBase {
  readonly kind: 'advantages';
  readonly agent: number;
  readonly mode: 'sampled' | 'exact';
  /** Importance ratios rho over decision steps, before truncation at 1. All 1 for the first agent of a sweep. */
  readonly rho: {
    readonly min: number;
    readonly mean: number;
    readonly max: number;
    readonly truncatedShare: number;
  };
  readonly groups: number;
  /** Groups without spread: their advantages are exactly 0. */
  readonly flatGroups: number;
  /** Share of sequences whose normalised advantage was clipped at A_clip. */
  readonly clippedShare: number;
  /** Largest absolute advantage used. */
  readonly maxAbs: number;
  /** Per sequence (sampled): raw, normalised, clipped; per (state, action) (exact): A. */
  readonly advantages: ArtifactId;
}

export interface OptimizeEvent extends EventBase {
  readonly kind: 'optimize';
  readonly agent: number;
  /** From 1; grows with each backtrack. */
  readonly attempt: number;
  /** From 1 to innerSteps. */
  readonly innerStep: number;
  readonly innerSteps: number;
  /** Mean clipped objective at the policy this step started from. */
  readonly objective: number;
  readonly meanKl: number;
  readonly beta: number;
  readonly lr: number;
  /** Norm of the whole gradient, before clipping. */
  readonly gradNorm: number;
  readonly clipFraction: number;
  readonly outsideFraction: number;
}

/** One line of the acceptance rule's table: passes when value <= limit (`atMost`) or >= limit (`atLeast`). */
export interface Condition {
  readonly name: 'quantile' | 'surrogate';
  readonly value: number;
  readonly relation: 'atMost' | 'atLeast';
  readonly limit: number;
  readonly passed: boolean;
}

export interface KlCheckEvent extends EventBase {
  readonly kind: 'klCheck';
  readonly agent: number;
  readonly attempt: number;
  /** (1 - alpha) quantile (the `higher` one) of per-state KL(pi_tar || pi_cur), nats, exact over each state's actions. */
  readonly quantile: number;
  readonly alpha: number;
  readonly delta: number;
  readonly max: number;
  readonly mean: number;
  /** States (visited, or all in exact tasks) where the agent acts. */
  readonly states: number;
  readonly violations: number;
  /** DKW: with probability 1 - eta, at most alpha + this share of states lies above the quantile. A probability, not nats. */
  readonly dkwSlack: number;
  /** Importance-sampled gain mean (exp(u) - 1) A over pi_cur, unclipped; with exact advantages it is
   * the exact surrogate in units of J: L_i under `sat`, the same under pi_cur under `simultaneous`.
   */
  readonly surrogate: number;
  readonly conditions: readonly Condition[];
  readonly accepted: boolean;
  /** Per-state KL with the state each row belongs to. */
  readonly kl: ArtifactId;
  /** Per-sequence u, ratio and advantage at the proposal. */
  readonly ratios: ArtifactId;
}

export interface BacktrackEvent extends EventBase {
  readonly kind: 'backtrack';
  readonly agent: number;
  /** The attempt that failed. */
  readonly attempt: number;
  readonly failed: readonly Condition['name'][];
  readonly lr: { readonly from: number; readonly to: number };
  readonly beta: { readonly from: number; readonly to: number };
  /** False when attempts ran out: the agent keeps pi_cur. */
  readonly retry: boolean;
}

export interface PromoteEvent extends EventBase {
  readonly kind: 'promote';
  readonly agent: number;
  /** False: every attempt was rejected and pi_cur was kept, bit for bit. */
  readonly accepted: boolean;
  /** `noSignal`: every advantage was 0 (no group had any spread) or the agent never acted: nothing to learn. */
  readonly reason: 'accepted' | 'attemptsExhausted' | 'noSignal';
  readonly attempts: number;
  /** Share of states over delta in the first proposal, before any backtracking. */
  readonly proposedViolationRate: number;
  /** The same for what was kept: 0 if rejected. */
  readonly acceptedViolationRate: number;
  readonly states: number;
  readonly proposedViolations: number;
  readonly acceptedViolations: number;
  readonly beta: { readonly from: number; readonly to: number; readonly why: 'kept' | 'raised' | 'lowered' };
  /** Action distributions of the agent before and after, at up to 64 states. */
  readonly policy: ArtifactId;
}

/** Lower bounds on J(pi^_i) - J(pi^_{i-1}), SAT.md section 6. */
export type BoundName = 'paper' | 'trpo' | 'cpo' | 'coupling' | 'statewise';

export interface Bound {
  /** The lower bound, in units of J. */
  readonly value: number;
  /** What it takes off L_i; absent for `statewise`, which has no penalty term. */
  readonly penalty?: number;
  /** It can never be positive at this discount, whatever the update. */
  readonly vacuous: boolean;
}

export interface CertificateEvent extends EventBase {
  readonly kind: 'certificate';
  /** `update`: one agent; `stage`: sums over the stage's updates. */
  readonly scope: 'update' | 'stage';
  /** Absent for scope `stage`. */
  readonly agent?: number;
  /** `exact`: every quantity by enumeration. `estimated`: from samples; the bounds are then not guarantees. */
  readonly quality: 'exact' | 'estimated';
  /** L_i, the surrogate gain, units of J. */
  readonly L: Estimate;
  /** The true (or paired, estimated) change in J. */
  readonly dJ: Estimate;
  readonly J: Estimate;
  readonly bounds: Readonly<Record<BoundName, Bound>>;
  /** The largest of the bounds. */
  readonly best: BoundName;
  readonly klMax: number;
  readonly tvMax: number;
  readonly aMax: number;
  /** `computed` by enumeration or `assumed` from the task's largest return. */
  readonly aMaxSource: 'computed' | 'assumed';
  readonly accepted: boolean;
  /** Stage only: sum_i A_max/(1-gamma) sqrt(log(2n/dc)/(2 N_i)) as printed, and Hoeffding's twice that; 0 if exact. */
  readonly finiteSample?: { readonly asPrinted: number; readonly hoeffding: number };
}

export interface StageEndEvent extends EventBase {
  readonly kind: 'stageEnd';
  readonly J: Estimate;
  readonly dJ: Estimate;
  readonly success?: Estimate;
  /** Agents whose update was accepted. */
  readonly accepted: number;
  readonly updates: number;
  /** True if J fell during this stage (by more than rounding). */
  readonly monotonicityViolated: boolean;
  /** Agent updates of this stage after which J was lower. */
  readonly violatingUpdates: number;
}

/** Supervised warm start before stage 0 (no line of Algorithm 1). */
export interface WarmStartEvent {
  readonly kind: 'warmStart';
  readonly seq: number;
  /** Gradient steps done, and the most that may be taken. */
  readonly step: number;
  readonly steps: number;
  /** KL(teacher || base), nats a decision, averaged over the last few steps. */
  readonly kl: number;
  /** The warm start ends when `kl` is down to this. */
  readonly targetKl: number;
}

export type StageEvent =
  | StageStartEvent
  | RolloutEvent
  | OrderEvent
  | IntermediateEvent
  | AdvantagesEvent
  | OptimizeEvent
  | KlCheckEvent
  | BacktrackEvent
  | PromoteEvent
  | CertificateEvent
  | StageEndEvent;

export type SatEvent = StageEvent | WarmStartEvent;

/** Larger data behind an event, fetched on demand. */
export type Artifact =
  | {
      readonly kind: 'rollouts';
      readonly batch: number;
      readonly steps: number;
      /** [B * T] */
      readonly observations: Int32Array;
      /** Per agent [B * T]. */
      readonly actions: readonly Int32Array[];
      readonly active: readonly Int32Array[];
      /** [B] */
      readonly lengths: Int32Array;
      readonly returns: Float64Array;
      readonly group: Int32Array;
    }
  | {
      readonly kind: 'advantages';
      /** [B], or [S * A] in exact mode. */
      readonly raw: Float64Array;
      readonly normalised: Float64Array;
      readonly clipped: Float64Array;
    }
  | {
      readonly kind: 'kl';
      /** [N] per-state KL, nats. */
      readonly kl: Float64Array;
      /** [N] observation at each row. */
      readonly observation: Int32Array;
    }
  | {
      readonly kind: 'ratios';
      /** [B] log-ratio u, advantage used, weight of the sequence in the mean (all 1 when sampled). */
      readonly u: Float64Array;
      readonly advantage: Float64Array;
      readonly weight: Float64Array;
      /** Clip band in log space. */
      readonly band: readonly [number, number];
    }
  | {
      readonly kind: 'policy';
      readonly agent: number;
      /** [n] label of each state shown. */
      readonly states: readonly string[];
      /** [V] */
      readonly actions: readonly string[];
      /** [n * V] probabilities. */
      readonly before: Float64Array;
      readonly after: Float64Array;
    };
