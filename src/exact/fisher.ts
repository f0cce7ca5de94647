/**
 * Information-geometric gain of one agent with a logit table (SAT.md section 6). theta is the table, pi(.|s) =
 * softmax(theta_s / T), and L(theta) = 1/(1-gamma) sum_s d(s) sum_a pi_theta(a|s) A(s, a) with d and A of pi^_{i-1}
 * held fixed.
 *
 * A logit acts in its own state alone, so the Fisher matrix is block diagonal: F_s = d(s)/T^2 (diag p - p p^T), p =
 * pi(.|s). The dense matrix is never formed; cost and memory are S |A_j| beyond the advantages.
 */
import { atEveryState, klDivergence } from './divergence.ts';
import { type Evaluation, exactAdvantageForAgent, expectedAdvantage } from './evaluate.ts';
import type { JointPolicy, Mdp } from './mdp.ts';
import { isActive, softmaxRows } from './policy.ts';

export interface FisherSettings {
  /** Damping: (F + eps I) is inverted, never F, which is singular. Above 0, in the units of F (nats per squared logit). */
  readonly eps: number;
  /** Radius delta_j in nats, at least 0. */
  readonly delta: number;
  /** T, above 0; default 1. Derivatives are with respect to the logits before they are divided by T. */
  readonly temperature?: number;
}

/** Tables are [S * |A_j|], row-major like theta, and 0 at states where the agent does not act. */
export interface InformationGain {
  readonly agent: number;
  /** g = dL/dtheta, units of J per logit. Every row sums to 0. */
  readonly gradient: Float64Array;
  /** (F + eps I)^-1 g. */
  readonly naturalGradient: Float64Array;
  /** kappa = sqrt(2 g . (F + eps I)^-1 g), units of J per root nat. */
  readonly kappa: number;
  /**
   * Smallest eigenvalue of F + eps I. It is eps for every table: adding a constant to a row of logits changes nothing,
   * so F has the eigenvalue 0, and it has none below.
   */
  readonly lambdaMin: number;
  /** kappa sqrt(delta), units of J: what L gains to first order from the best step with step . (F + eps I) step <= 2 delta. */
  readonly gain: number;
  /**
   * L_loc, units of J per squared logit: no second derivative of L along a unit vector is larger, at any theta. Along v it
   * is at state s d(s)/((1-gamma) T^2) E_pi[(A - E_pi A) (v - E_pi v)^2], and no variance exceeds |v|^2 / 2, so
   * max_s d(s) (max A - min A) / (2 (1-gamma) T^2) will do, over the actions that are possible in s.
   */
  readonly smoothness: number;
  /**
   * kappa sqrt(delta) - a delta with a = smoothness / lambdaMin. L rises at least this much at the natural step, because the
   * step is no longer than sqrt(2 delta / lambdaMin); it says nothing about J, and with lambdaMin = eps it is negative
   * beyond tiny radii: a heuristic.
   */
  readonly netGain: number;
  /** The natural gradient scaled to step . (F + eps I) step = 2 delta, in logits: mean KL about delta. 0 where g is 0. */
  readonly naturalStep: Float64Array;
}

/**
 * What agent j could gain within its trust region.
 *
 * @param joint pi^_{i-1}, agent j still at its current policy.
 * @param evaluation of `joint`.
 * @throws {RangeError} for an agent that is not there, eps or temperature not above 0, or delta below 0.
 */
export function informationGain(
  mdp: Mdp,
  joint: JointPolicy,
  evaluation: Evaluation,
  agent: number,
  { eps, delta, temperature = 1 }: FisherSettings,
): InformationGain {
  checkSettings(mdp, agent, { eps, delta, temperature });
  const width = mdp.nActions[agent]!;
  const advantage = exactAdvantageForAgent(mdp, joint, evaluation, agent);
  const gradient = new Float64Array(advantage.length);
  const naturalGradient = new Float64Array(advantage.length);
  let smoothness = 0;
  for (let s = 0; s < mdp.nStates; s++) {
    if (!isActive(mdp, s, agent)) continue;
    const row = (table: Float64Array) => table.subarray(s * width, (s + 1) * width);
    const probabilities = row(joint[agent]!);
    const weight = evaluation.d[s]!;
    const scale = weight / ((1 - mdp.gamma) * temperature);
    row(gradient).set(surrogateGradient(probabilities, row(advantage), scale));
    row(naturalGradient).set(dampedSolve(probabilities, row(gradient), weight / temperature ** 2, eps));
    const spread = spreadOfPossible(probabilities, row(advantage));
    smoothness = Math.max(smoothness, (scale * spread) / (2 * temperature));
  }
  const slope = gradient.reduce((sum, g, k) => sum + g * naturalGradient[k]!, 0);
  const kappa = Math.sqrt(2 * slope);
  const gain = kappa * Math.sqrt(delta);
  const length = slope > 0 ? Math.sqrt(2 * delta) / Math.sqrt(slope) : 0;
  return {
    agent,
    gradient,
    naturalGradient,
    kappa,
    lambdaMin: eps,
    gain,
    smoothness,
    netGain: gain - (smoothness / eps) * delta,
    naturalStep: naturalGradient.map((x) => length * x),
  };
}

/** What a step of agent j's logits does, d and A of pi^_{i-1} held fixed. */
export interface StepOutcome {
  /** L, units of J; 0 at no step. */
  readonly L: number;
  /** sum_s d(s) KL(new || current), nats, over the states where the agent acts. */
  readonly meanKl: number;
  /** The largest KL(new || current) of any state, visited or not. */
  readonly klMax: number;
}

/**
 * Takes `step` [S * |A_j|] from agent j's current logits and measures it.
 *
 * @param joint pi^_{i-1}, agent j still at its current policy.
 * @param evaluation of `joint`.
 */
export function stepOutcome(
  mdp: Mdp,
  joint: JointPolicy,
  evaluation: Evaluation,
  agent: number,
  step: Float64Array,
  temperature = 1,
): StepOutcome {
  const current = joint[agent]!;
  // log pi is the logits / T up to a constant a state, which a softmax does not see.
  const logits = current.map((p, k) => Math.log(p) + step[k]! / temperature);
  const moved = softmaxRows(logits, mdp.nActions[agent]!);
  const after = joint.map((rows, j) => (j === agent ? moved : rows));
  const f = expectedAdvantage(mdp, after, evaluation);
  const kl = atEveryState(klDivergence, mdp, agent, moved, current);
  const mean = (values: Float64Array) => values.reduce((sum, x, s) => sum + evaluation.d[s]! * x, 0);
  return {
    L: mean(f) / (1 - mdp.gamma),
    meanKl: mean(kl),
    klMax: kl.reduce((most, x) => Math.max(most, x), 0),
  };
}

/** scale * p (A - E_p A): the gradient of scale * T * E_p A with respect to one state's logits. */
function surrogateGradient(p: Float64Array, advantage: Float64Array, scale: number): Float64Array {
  const mean = p.reduce((sum, probability, a) => sum + probability * advantage[a]!, 0);
  return p.map((probability, a) => scale * probability * (advantage[a]! - mean));
}

/**
 * x with (weight (diag p - p p^T) + eps I) x = g, for g that sums to 0. Sherman and Morrison's formula with w = 1 / (weight p +
 * eps), written so that nothing cancels as eps -> 0: x = w (g - p sum(w g) / sum(w p)). x sums to 0 too.
 */
function dampedSolve(p: Float64Array, g: Float64Array, weight: number, eps: number): Float64Array {
  const w = p.map((probability) => 1 / (weight * probability + eps));
  const along = (v: Float64Array) => w.reduce((sum, x, a) => sum + x * v[a]!, 0);
  const mean = along(g) / along(p);
  return g.map((slope, a) => w[a]! * (slope - p[a]! * mean));
}

/** max - min of the values whose probability is above 0. */
function spreadOfPossible(p: Float64Array, values: Float64Array): number {
  const possible = values.filter((_, a) => p[a]! > 0);
  return Math.max(...possible) - Math.min(...possible);
}

function checkSettings(mdp: Mdp, agent: number, { eps, delta, temperature }: Required<FisherSettings>): void {
  if (mdp.nActions[agent] === undefined) {
    throw new RangeError(`agent ${agent}; allowed: a whole number from 0 to ${mdp.nActions.length - 1}`);
  }
  const positive = { eps, temperature };
  for (const [name, value] of Object.entries(positive)) {
    if (!(value > 0 && value < Number.POSITIVE_INFINITY)) {
      throw new RangeError(`${name} ${value}; allowed: a number above 0`);
    }
  }
  if (!(delta >= 0 && delta < Number.POSITIVE_INFINITY)) {
    throw new RangeError(`delta ${delta}; allowed: a number from 0`);
  }
}
