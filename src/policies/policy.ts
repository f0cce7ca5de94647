import type { Tensor } from '../kernels/kernels.ts';

/**
 * What a policy is asked about: B sequences of T observations, row-major. A tabular policy reads `data[b * T + t]` as a
 * state index; a sequence model reads row b as a token sequence and answers at position t from tokens 0..t (causal), so
 * padding on the right is harmless.
 */
export interface Observations {
  readonly batch: number;
  readonly steps: number;
  /** [B * T] */
  readonly data: Int32Array;
}

/** One trainable tensor, owned by the kernels backend and updated in place by the optimiser. */
export interface Parameter {
  readonly name: string;
  readonly tensor: Tensor;
}

/**
 * One agent's policy pi^(j): logits over its actions, and the vector-Jacobian product that turns a gradient with
 * respect to those logits into one with respect to its parameters.
 */
export interface Policy {
  readonly kind: 'tabular' | 'onnx' | 'mixture';
  /** V: actions, or vocabulary size. */
  readonly nActions: number;
  readonly parameters: readonly Parameter[];
  readonly parameterCount: number;
  /** Raw logits [B * T, V] (no temperature). The caller releases them. Deterministic in (parameters, observations). */
  forward(observations: Observations): Promise<Tensor>;
  /** Gradients of sum(logits * dlogits), in the order of `parameters`. The caller releases them. */
  backward(observations: Observations, dlogits: Tensor): Promise<Tensor[]>;
  dispose(): Promise<void>;
}
