/** A stage's certificate, and which bounds can say anything at a given discount (SAT.md section 6). */
import type { BoundName } from '../runs/events.ts';
import { type AgentUpdateQuantities, BOUND_NAMES } from './bounds.ts';

/** The sampling behind a stage, for the finite-sample term. */
export interface StageSampling {
  /** Discount in [0, 1). */
  readonly gamma: number;
  /** n: agents of the team. */
  readonly nAgents: number;
  /** N_i: episodes behind update i, in order of updates; each at least 1. */
  readonly episodes: readonly number[];
  /** Probability with which the term may be exceeded, in (0, 1). */
  readonly deltaConf: number;
}

/** Two versions of one term, in units of J: take it off a bound whose L_i were estimated from samples. */
export interface FiniteSample {
  /** sum_i A_max_i/(1-gamma) sqrt(log(2n/deltaConf) / (2 N_i)), as the paper prints it. */
  readonly asPrinted: number;
  /** Twice that: Hoeffding's constant for variables in [-A_max/(1-gamma), A_max/(1-gamma)], whose range is 2 A_max/(1-gamma). */
  readonly hoeffding: number;
}

export interface StageCertificate {
  /** J(pi-bar) - J(pi_cur), the sum over the updates. */
  readonly dJ: number;
  /** sum_i L_i */
  readonly L: number;
  /** Sums over the updates; each at most dJ (Thm 4.4), in any order of updates. */
  readonly lowerBounds: Readonly<Record<BoundName, number>>;
  readonly oracleUpperBound: number;
  /** Present where `sampling` was given. */
  readonly finiteSample?: FiniteSample;
}

/**
 * Adds up the updates of one stage.
 *
 * @throws {RangeError} if `sampling` does not give every update its number of episodes, or deltaConf is outside (0, 1).
 */
export function stageCertificate(
  updates: readonly AgentUpdateQuantities[],
  sampling?: StageSampling,
): StageCertificate {
  const total = (pick: (update: AgentUpdateQuantities) => number) =>
    updates.reduce((sum, update) => sum + pick(update), 0);
  const lowerBounds = { paper: 0, trpo: 0, cpo: 0, coupling: 0, statewise: 0 };
  for (const name of BOUND_NAMES) lowerBounds[name] = total((update) => update.lowerBounds[name]);
  const sums = {
    dJ: total((update) => update.dJ),
    L: total((update) => update.L),
    lowerBounds,
    oracleUpperBound: total((update) => update.oracleUpperBound),
  };
  if (sampling === undefined) return sums;
  return {
    ...sums,
    finiteSample: finiteSampleTerm(
      updates.map((update) => update.aMax),
      sampling,
    ),
  };
}

/**
 * The finite-sample term for updates whose largest advantages are `aMax`, in units of J.
 *
 * @throws {RangeError} if there is not one number of episodes, at least 1, for each update, or deltaConf is outside (0, 1).
 */
export function finiteSampleTerm(aMax: readonly number[], sampling: StageSampling): FiniteSample {
  const { gamma, nAgents, episodes, deltaConf } = sampling;
  if (episodes.length !== aMax.length || !episodes.every((count) => count >= 1)) {
    throw new RangeError(
      `episodes [${episodes.join(', ')}]; allowed: ${aMax.length} numbers from 1, one for each update`,
    );
  }
  if (!(deltaConf > 0 && deltaConf < 1)) {
    throw new RangeError(`deltaConf ${deltaConf}; allowed: a number above 0 and below 1`);
  }
  const logTerm = Math.log((2 * nAgents) / deltaConf);
  const asPrinted = aMax.reduce(
    (sum, a, i) => sum + (a / (1 - gamma)) * Math.sqrt(logTerm / (2 * episodes[i]!)),
    0,
  );
  return { asPrinted, hoeffding: 2 * asPrinted };
}

/** The largest lower bound: all are proved, so it is the one to quote. The first of them on a tie. */
export function bestBound(lowerBounds: Readonly<Record<BoundName, number>>): BoundName {
  return BOUND_NAMES.reduce((best, name) => (lowerBounds[name] > lowerBounds[best] ? name : best));
}

/**
 * Why this bound can never be positive at this discount, whatever the update and its radius; undefined if it can.
 *
 * For the paper's: L_i <= 2 TVmax A_max/(1-g) and TVmax <= sqrt(KLmax/2) (Pinsker), so L_i - penalty is at most
 * C (1-2g)/(1-g), where C is the oracle ceiling of Thm 4.5.
 */
export function vacuous(name: BoundName, gamma: number): string | undefined {
  if (name !== 'paper' || gamma < 0.5) return undefined;
  return `At γ = ${gamma} the penalty of the paper’s bound is never below the largest gain L it could certify; it can be positive only for γ below 1/2.`;
}

/**
 * Why this bound cannot be positive for an update of this size; undefined if nothing known forbids it. Each limit
 * follows from |f| <= max|f| or |f| <= 2 TV A_max put into L_i; the update's own numbers may forbid more.
 *
 * @param tvMax largest TV over the states, in [0, 1]
 * @param meanTv E_{s ~ d} TV under the occupancy before the update, in [0, 1]
 */
export function neverPositive(
  name: BoundName,
  gamma: number,
  tvMax: number,
  meanTv: number,
): string | undefined {
  // gamma = 0 divides to Infinity: nothing is forbidden, since no penalty is left.
  const limits: Record<'trpo' | 'cpo' | 'coupling', { value: number; limit: number; what: string }> = {
    trpo: { value: tvMax, limit: (1 - gamma) / (2 * gamma), what: 'largest total variation' },
    cpo: { value: meanTv, limit: (1 - gamma) / (2 * gamma), what: 'mean total variation' },
    coupling: { value: tvMax, limit: (1 - gamma) / gamma, what: 'largest total variation' },
  };
  if (name === 'paper') return vacuous(name, gamma);
  if (name === 'statewise') return undefined;
  const { value, limit, what } = limits[name];
  if (value < limit) return undefined;
  return `At γ = ${gamma} this bound can be positive only if the ${what} of the update is below ${limit.toPrecision(2)}; it is ${value.toPrecision(2)}.`;
}
