/**
 * Every quantity of one agent update pi^_{i-1} -> pi^_i: the change in J, the divergences, the surrogate L_i and the
 * lower bounds on the change (SAT.md section 6). Theorem numbers are those of arXiv 2605.05216.
 */
import type { BoundName } from '../runs/events.ts';
import { atEveryState, klDivergence, totalVariation } from './divergence.ts';
import { type Evaluation, evaluate, expectedAdvantage } from './evaluate.ts';
import type { JointPolicy, Mdp } from './mdp.ts';
import { checkPolicy, isActive } from './policy.ts';

/** The bounds of the form L_i minus a penalty; `statewise` has none. */
export type PenaltyName = Exclude<BoundName, 'statewise'>;

const PENALTY_NAMES: readonly PenaltyName[] = ['paper', 'trpo', 'cpo', 'coupling'];
export const BOUND_NAMES: readonly BoundName[] = [...PENALTY_NAMES, 'statewise'];

/** What the penalties are made of. */
export interface PenaltyTerms {
  /** Discount in [0, 1). */
  readonly gamma: number;
  /** max |A(s, a)| of pi^_{i-1} */
  readonly aMax: number;
  /** max_s |f(s)| */
  readonly fMax: number;
  /** max_s KL(pi_tar || pi_cur), nats; may be Infinity. */
  readonly klMax: number;
  /** max_s TV, in [0, 1]. */
  readonly tvMax: number;
  /** E_{s ~ d} TV, in [0, 1]. */
  readonly meanTv: number;
}

/** All quantities of one update, in units of J unless said otherwise; arrays are [S]. */
export interface AgentUpdateQuantities {
  readonly agent: number;
  /** J(pi^_i) - J(pi^_{i-1}), the truth that the bounds are below. */
  readonly dJ: number;
  /** KL(pi_tar || pi_cur) in nats, per state; Infinity where the update made an impossible action possible. */
  readonly kl: Float64Array;
  /** TV(pi_tar, pi_cur), per state. */
  readonly tv: Float64Array;
  readonly klMax: number;
  readonly tvMax: number;
  /** E_{s ~ d} TV under the occupancy of pi^_{i-1}. */
  readonly meanTv: number;
  /** f(s) = E_{a ~ pi^_i} A(s, a), A of pi^_{i-1}. */
  readonly expectedAdvantage: Float64Array;
  /** L_i = E_d f / (1 - gamma), the exact surrogate (zeta_i = 0). */
  readonly L: number;
  /** max |A(s, a)| of pi^_{i-1}. */
  readonly aMax: number;
  readonly penalties: Readonly<Record<PenaltyName, number>>;
  /** Each is at most dJ. `paper` is -Infinity where klMax is Infinity; the others are finite whatever the update. */
  readonly lowerBounds: Readonly<Record<BoundName, number>>;
  /** sum_s |d^{pi^_i}(s) - d^{pi^_{i-1}}(s)|, in [0, 2]. */
  readonly occupancyShift: number;
  /** 2 gamma/(1-gamma) tvMax, at least the shift. */
  readonly occupancyShiftBound: number;
  /** 2 gamma tvMax / (1 - gamma + gamma tvMax), at least the shift and at most 2. */
  readonly occupancyShiftBoundCoupling: number;
  /** C = A_max/(1-gamma) sqrt(2 klMax), at least dJ (Thm 4.5). Infinity where klMax is. */
  readonly oracleUpperBound: number;
}

/**
 * Measures one agent's update, exactly.
 *
 * @param before pi^_{i-1}
 * @param after pi^_i: `before` with another policy for `agent`.
 * @param evaluationBefore of `before`, if already known; likewise `evaluationAfter`.
 * @throws {RangeError} if the policies differ in another agent too (a bound on one agent's divergence would not hold), or do not
 *   fit the model.
 */
export function agentUpdate(
  mdp: Mdp,
  before: JointPolicy,
  after: JointPolicy,
  agent: number,
  evaluationBefore: Evaluation = evaluate(mdp, before),
  evaluationAfter: Evaluation = evaluate(mdp, after),
): AgentUpdateQuantities {
  checkOnlyAgentMoved(mdp, before, after, agent);
  const { gamma, mu } = mdp;
  const { d } = evaluationBefore;
  const kl = atEveryState(klDivergence, mdp, agent, after[agent]!, before[agent]!);
  const tv = atEveryState(totalVariation, mdp, agent, after[agent]!, before[agent]!);
  const f = expectedAdvantage(mdp, after, evaluationBefore);
  const terms: PenaltyTerms = {
    gamma,
    aMax: largest(evaluationBefore.A),
    fMax: largest(f),
    klMax: largest(kl),
    tvMax: largest(tv),
    meanTv: dot(d, tv),
  };
  const { klMax, tvMax, meanTv, aMax } = terms;
  const L = dot(d, f) / (1 - gamma);
  const penalties = surrogatePenalties(terms);
  const worst = f.reduce((least, x) => Math.min(least, x), Number.POSITIVE_INFINITY);
  return {
    agent,
    dJ: evaluationAfter.J - evaluationBefore.J,
    kl,
    tv,
    klMax,
    tvMax,
    meanTv,
    expectedAdvantage: f,
    L,
    aMax,
    penalties,
    lowerBounds: {
      paper: L - penalties.paper,
      trpo: L - penalties.trpo,
      cpo: L - penalties.cpo,
      coupling: L - penalties.coupling,
      statewise: dot(mu, f) + (gamma / (1 - gamma)) * worst,
    },
    occupancyShift: d.reduce((sum, x, s) => sum + Math.abs(evaluationAfter.d[s]! - x), 0),
    occupancyShiftBound: ((2 * gamma) / (1 - gamma)) * tvMax,
    occupancyShiftBoundCoupling: couplingShift(gamma, tvMax),
    oracleUpperBound: timesPossiblyInfinite(aMax / (1 - gamma), Math.sqrt(2 * klMax)),
  };
}

/**
 * What each bound takes off L_i (SAT.md section 6):
 * - `paper` (Thm 4.2) 2g/(1-g)^2 A_max sqrt(KLmax/2)
 * - `trpo` 4g/(1-g)^2 A_max TVmax^2
 * - `cpo` 2g/(1-g)^2 max|f| E_d[TV]
 * - `coupling` 1/(1-g) * 2g TVmax/(1-g+g TVmax) * max|f|
 *
 * None is NaN: where the factor before an infinite KL is 0, f is 0 or the discount is, and so is the penalty.
 */
export function surrogatePenalties(terms: PenaltyTerms): Record<PenaltyName, number> {
  const { gamma, aMax, fMax, klMax, tvMax, meanTv } = terms;
  const horizon = 1 / (1 - gamma);
  return {
    paper: timesPossiblyInfinite(2 * gamma * horizon ** 2 * aMax, Math.sqrt(klMax / 2)),
    trpo: 4 * gamma * horizon ** 2 * aMax * tvMax ** 2,
    cpo: 2 * gamma * horizon ** 2 * fMax * meanTv,
    coupling: horizon * couplingShift(gamma, tvMax) * fMax,
  };
}

/**
 * Bound on the L1 shift of the occupancy, from coupling the two policies: they part with probability at most TVmax a
 * step, and once parted the L1 distance is at most 2.
 */
function couplingShift(gamma: number, tvMax: number): number {
  return (2 * gamma * tvMax) / (1 - gamma + gamma * tvMax);
}

function timesPossiblyInfinite(factor: number, x: number): number {
  return factor === 0 ? 0 : factor * x;
}

function largest(values: Float64Array): number {
  return values.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
}

function dot(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, x, index) => sum + x * b[index]!, 0);
}

function checkOnlyAgentMoved(mdp: Mdp, before: JointPolicy, after: JointPolicy, agent: number): void {
  if (mdp.nActions[agent] === undefined) {
    throw new RangeError(`agent ${agent}; allowed: a whole number from 0 to ${mdp.nActions.length - 1}`);
  }
  checkPolicy(mdp, before);
  checkPolicy(mdp, after);
  mdp.nActions.forEach((width, other) => {
    if (other === agent || before[other] === after[other]) return;
    const moved = before[other]!.some((p, index) => {
      return p !== after[other]![index] && isActive(mdp, Math.floor(index / width), other);
    });
    if (moved) throw new RangeError(`agent ${other} changed too; allowed: a change of agent ${agent} alone`);
  });
}
