import type { AdamWHyper, TypedArray } from '../kernels.ts';

/**
 * Step number `step` (from 1) of AdamW with decoupled decay (Loshchilov & Hutter, 1711.05101) on one parameter tensor;
 * `param`, `m` and `v` are overwritten.
 */
export function adamwStep(
  param: TypedArray,
  grad: TypedArray,
  m: TypedArray,
  v: TypedArray,
  step: number,
  hyper: AdamWHyper,
): void {
  const { lr, beta1, beta2, eps, weightDecay } = hyper;
  const stepSize = lr / (1 - beta1 ** step);
  const correction2 = Math.sqrt(1 - beta2 ** step);
  for (let i = 0; i < param.length; i++) {
    const g = grad[i]!;
    const first = beta1 * m[i]! + (1 - beta1) * g;
    const second = beta2 * v[i]! + (1 - beta2) * g * g;
    m[i] = first;
    v[i] = second;
    param[i] =
      param[i]! * (1 - lr * weightDecay) - (stepSize * first) / (Math.sqrt(second) / correction2 + eps);
  }
}

/** Scales all of `grads` in place to global L2 norm <= maxNorm; returns the norm before. */
export function clipGradients(grads: readonly TypedArray[], maxNorm: number): number {
  let squares = 0;
  for (const grad of grads) for (const g of grad) squares += g * g;
  const norm = Math.sqrt(squares);
  const factor = Math.min(1, maxNorm / (norm + 1e-6));
  if (factor < 1) for (const grad of grads) for (let i = 0; i < grad.length; i++) grad[i] = grad[i]! * factor;
  return norm;
}
