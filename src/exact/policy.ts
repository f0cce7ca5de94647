/** Product policies pi(a|s) = prod_i pi^(i)(a_i|s) with masked activation (SAT.md section 1). */
import type { JointPolicy, Mdp } from './mdp.ts';

/** How far the probabilities of a row may be from summing to 1. */
const ROW_SUM_TOLERANCE = 1e-9;

/** J: the number of joint actions. */
export function jointActionCount(mdp: Mdp): number {
  return mdp.nActions.reduce((product, count) => product * count, 1);
}

/** Whether agent i acts in state s. */
export function isActive(mdp: Mdp, state: number, agent: number): boolean {
  return mdp.active[state * mdp.nActions.length + agent] === 1;
}

/** Softmax of each row of `logits` [N * V], in float64; a logit of -Infinity is an impossible action. Returns [N * V]. */
export function softmaxRows(logits: ArrayLike<number>, width: number): Float64Array {
  const out = Float64Array.from(logits);
  for (let start = 0; start < out.length; start += width) {
    const row = out.subarray(start, start + width);
    const max = row.reduce((most, x) => Math.max(most, x), Number.NEGATIVE_INFINITY);
    let total = 0;
    for (let v = 0; v < width; v++) {
      row[v] = Math.exp(row[v]! - max);
      total += row[v]!;
    }
    for (let v = 0; v < width; v++) row[v] = row[v]! / total;
  }
  return out;
}

/**
 * pi^_0 .. pi^_n: in pi^_i the first i agents of `sigma` play their target policy, the others their current one.
 *
 * @param sigma a permutation of the agents, the order of updates.
 */
export function intermediatePolicies(
  current: JointPolicy,
  target: JointPolicy,
  sigma: readonly number[],
): JointPolicy[] {
  return Array.from({ length: sigma.length + 1 }, (_, i) => {
    const updated = new Set(sigma.slice(0, i));
    return current.map((rows, agent) => (updated.has(agent) ? target[agent]! : rows));
  });
}

/**
 * pi(.|s) over the joint actions, written to `out` [J]. An inactive agent plays its no-op.
 *
 * @param without leaves this agent's factor out, so that out[a] is the probability of the *other* agents' actions in a.
 */
export function jointDistribution(
  mdp: Mdp,
  policy: JointPolicy,
  state: number,
  out: Float64Array,
  without?: number,
): void {
  out[0] = 1;
  let length = 1;
  mdp.nActions.forEach((count, agent) => {
    const rows = policy[agent]!;
    const active = isActive(mdp, state, agent);
    // From the back, so that each entry is read before its place is taken by an expansion of an earlier one.
    for (let k = length - 1; k >= 0; k--) {
      const others = out[k]!;
      for (let a = count - 1; a >= 0; a--) {
        const own = active ? rows[state * count + a]! : Number(a === mdp.noop[agent]);
        out[k * count + a] = agent === without ? others : others * own;
      }
    }
    length *= count;
  });
}

/**
 * Throws a RangeError unless `policy` has a distribution for every agent at every state where it acts.
 * Rows of inactive agents are not looked at.
 */
export function checkPolicy(mdp: Mdp, policy: JointPolicy): void {
  if (policy.length !== mdp.nActions.length) {
    throw new RangeError(`joint policy of ${policy.length} agents; the model has ${mdp.nActions.length}`);
  }
  mdp.nActions.forEach((count, agent) => {
    const rows = policy[agent]!;
    if (rows.length !== mdp.nStates * count) {
      throw new RangeError(
        `agent ${agent}: ${rows.length} probabilities; allowed: ${mdp.nStates} states x ${count} actions`,
      );
    }
    for (let s = 0; s < mdp.nStates; s++) {
      if (!isActive(mdp, s, agent)) continue;
      const row = rows.subarray(s * count, (s + 1) * count);
      const total = row.reduce((sum, p) => sum + p, 0);
      if (row.every((p) => p >= 0) && Math.abs(total - 1) <= ROW_SUM_TOLERANCE) continue;
      throw new RangeError(
        `agent ${agent}, state ${s}: [${row.join(', ')}] is no distribution; allowed: numbers from 0 that sum to 1`,
      );
    }
  });
}
