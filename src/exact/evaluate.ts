/** Exact evaluation of a team in an enumerable task, by one linear solve (SAT.md section 1). */
import { type Factorisation, factorise, solve, solveTransposed } from './lu.ts';
import type { JointPolicy, Mdp } from './mdp.ts';
import { checkPolicy, isActive, jointActionCount, jointDistribution } from './policy.ts';

/** What there is to know about one joint policy. */
export interface Evaluation {
  /** J(pi) = sum_s mu(s) V(s), the expected discounted return. */
  readonly J: number;
  /** [S] V = (I - gamma P_pi)^-1 r_pi */
  readonly V: Float64Array;
  /** [S * J] Q = R + gamma P V */
  readonly Q: Float64Array;
  /** [S * J] A = Q - V */
  readonly A: Float64Array;
  /** [S] d(s) = (1 - gamma) sum_t gamma^t P(s_t = s); sums to 1. */
  readonly d: Float64Array;
}

/**
 * J, V, Q, A and occupancy of `policy`, exact up to rounding.
 *
 * Cost: S^2 J + S^3 / 3 multiplications; memory beyond the result S^2.
 *
 * @throws {RangeError} if gamma is outside [0, 1), or the policy does not fit the model or has a row that is no distribution.
 */
export function evaluate(mdp: Mdp, policy: JointPolicy): Evaluation {
  const { gamma, mu } = mdp;
  if (!(gamma >= 0 && gamma < 1))
    throw new RangeError(`gamma ${gamma}; allowed: a number from 0 and below 1`);
  checkPolicy(mdp, policy);
  const { system, rewards } = bellman(mdp, policy);
  const V = solve(system, rewards);
  const Q = actionValues(mdp, V);
  const nJoint = jointActionCount(mdp);
  return {
    J: mu.reduce((sum, probability, s) => sum + probability * V[s]!, 0),
    V,
    Q,
    A: Q.map((q, index) => q - V[Math.floor(index / nJoint)]!),
    d: solveTransposed(system, mu).map((visits) => (1 - gamma) * visits),
  };
}

/** I - gamma P_pi, factorised, and r_pi [S]. */
function bellman(mdp: Mdp, policy: JointPolicy): { system: Factorisation; rewards: Float64Array } {
  const { nStates, gamma } = mdp;
  const nJoint = jointActionCount(mdp);
  const probabilities = new Float64Array(nJoint);
  const matrix = new Float64Array(nStates * nStates);
  const rewards = new Float64Array(nStates);
  for (let s = 0; s < nStates; s++) {
    jointDistribution(mdp, policy, s, probabilities);
    for (let j = 0; j < nJoint; j++) {
      const probability = probabilities[j]!;
      if (probability === 0) continue;
      const pair = s * nJoint + j;
      rewards[s] = rewards[s]! + probability * mdp.rewards[pair]!;
      for (let next = 0; next < nStates; next++) {
        matrix[s * nStates + next] =
          matrix[s * nStates + next]! - gamma * probability * mdp.transitions[pair * nStates + next]!;
      }
    }
    matrix[s * nStates + s] = matrix[s * nStates + s]! + 1;
  }
  return { system: factorise(matrix, nStates), rewards };
}

function actionValues(mdp: Mdp, V: Float64Array): Float64Array {
  const { nStates, gamma, transitions } = mdp;
  return mdp.rewards.map((reward, pair) => {
    let future = 0;
    for (let next = 0; next < nStates; next++) future += transitions[pair * nStates + next]! * V[next]!;
    return reward + gamma * future;
  });
}

/** f(s) = E_{a ~ policy(.|s)} A(s, a), [S], with the advantages of another evaluation. */
export function expectedAdvantage(mdp: Mdp, policy: JointPolicy, { A }: Evaluation): Float64Array {
  const nJoint = jointActionCount(mdp);
  const probabilities = new Float64Array(nJoint);
  return Float64Array.from({ length: mdp.nStates }, (_, s) => {
    jointDistribution(mdp, policy, s, probabilities);
    return probabilities.reduce((sum, probability, j) => sum + probability * A[s * nJoint + j]!, 0);
  });
}

/**
 * What agent j's action is worth, the others playing `policy`: [S * |A_j|] of E_{a_-j ~ policy} A(s, a_j, a_-j). This
 * is the advantage of the exact objective, with `policy` = pi^_{i-1} and its evaluation. 0 at states where j does not
 * act.
 */
export function exactAdvantageForAgent(
  mdp: Mdp,
  policy: JointPolicy,
  { A }: Evaluation,
  agent: number,
): Float64Array {
  const nJoint = jointActionCount(mdp);
  const width = mdp.nActions[agent]!;
  // Later agents vary faster: agent j's action changes every `stride` joint actions.
  const stride = mdp.nActions.slice(agent + 1).reduce((product, count) => product * count, 1);
  const others = new Float64Array(nJoint);
  const out = new Float64Array(mdp.nStates * width);
  for (let s = 0; s < mdp.nStates; s++) {
    if (!isActive(mdp, s, agent)) continue;
    jointDistribution(mdp, policy, s, others, agent);
    for (let j = 0; j < nJoint; j++) {
      const cell = s * width + (Math.floor(j / stride) % width);
      out[cell] = out[cell]! + others[j]! * A[s * nJoint + j]!;
    }
  }
  return out;
}
