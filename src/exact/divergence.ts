/** Divergences between two policies of one agent, state by state: the trust region's, and the bounds'. */
import type { Mdp } from './mdp.ts';
import { isActive } from './policy.ts';

/**
 * KL(p || q) in nats of two rows of `width` probabilities. An action impossible under p adds 0; one possible under p
 * and impossible under q makes it Infinity. Rounding cannot make it negative.
 */
export function klDivergence(
  p: ArrayLike<number>,
  q: ArrayLike<number>,
  offset: number,
  width: number,
): number {
  let sum = 0;
  for (let a = offset; a < offset + width; a++) {
    if (p[a]! > 0) sum += p[a]! * Math.log(p[a]! / q[a]!);
  }
  return Math.max(0, sum);
}

/** TV(p, q) = 1/2 sum |p - q|, in [0, 1]. */
export function totalVariation(
  p: ArrayLike<number>,
  q: ArrayLike<number>,
  offset: number,
  width: number,
): number {
  let sum = 0;
  for (let a = offset; a < offset + width; a++) sum += Math.abs(p[a]! - q[a]!);
  return Math.min(1, sum / 2);
}

/** One of the divergences above at every state of the model, [S]; 0 where the agent does not act. */
export function atEveryState(
  divergence: typeof klDivergence,
  mdp: Mdp,
  agent: number,
  p: ArrayLike<number>,
  q: ArrayLike<number>,
): Float64Array {
  const width = mdp.nActions[agent]!;
  return Float64Array.from({ length: mdp.nStates }, (_, s) =>
    isActive(mdp, s, agent) ? divergence(p, q, s * width, width) : 0,
  );
}
