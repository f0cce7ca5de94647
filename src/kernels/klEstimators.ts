/**
 * Schulman's estimators of a KL divergence from one sampled action, in nats, as functions of
 * d = log pi_tar(a) - log pi_cur(a). Each is unbiased (k2: nearly) only for actions drawn from the first policy of its
 * divergence. Source: J. Schulman, "Approximating KL divergence" (2020); k3 is GRPO's penalty (2402.03300).
 */
import type { KlDirection } from './kernels.ts';

/** d as KL(p || q) sees it: log p(a) - log q(a). */
function forward(d: number, direction: KlDirection): number {
  return direction === 'tar-cur' ? d : -d;
}

/** log p - log q: unbiased, of either sign. */
export function k1(d: number, direction: KlDirection): number {
  return forward(d, direction);
}

/** (log p - log q)^2 / 2 >= 0: small variance, biased at second order. The same in both directions. */
export function k2(d: number): number {
  return (d * d) / 2;
}

/** q/p - 1 + log p - log q >= 0: unbiased and never negative. */
export function k3(d: number, direction: KlDirection): number {
  const x = forward(d, direction);
  return Math.expm1(-x) + x;
}
