import type { Kernels, Tensor } from '../../src/kernels/kernels.ts';
import { Rng } from '../../src/kernels/rng.ts';
import type { Observations, Policy } from '../../src/policies/policy.ts';

/**
 * A policy over token contexts whose logits are pseudo-random but a pure function of (salt, tokens so far): stands in for
 * a sequence model where a test needs to know every probability. It has nothing to train.
 */
export class ContextPolicy implements Policy {
  readonly kind = 'tabular';
  readonly parameters = [];
  readonly parameterCount = 0;

  constructor(
    private readonly kernels: Kernels,
    readonly nActions: number,
    public salt: number,
    /** Standard deviation of the logits. */
    private readonly spread = 1,
  ) {}

  /** [V] logits after the tokens of `context`. */
  logitsAfter(context: readonly number[]): number[] {
    const rng = Rng.of(this.salt, 'init', context.length, ...context);
    return Array.from({ length: this.nActions }, () => this.spread * rng.normal());
  }

  forward({ batch, steps, data }: Observations): Promise<Tensor> {
    const logits = new Float64Array(batch * steps * this.nActions);
    for (let b = 0; b < batch; b++) {
      for (let t = 0; t < steps; t++) {
        const context = [...data.subarray(b * steps, b * steps + t + 1)];
        logits.set(this.logitsAfter(context), (b * steps + t) * this.nActions);
      }
    }
    return Promise.resolve(this.kernels.tensor(logits, [batch * steps, this.nActions], 'logits'));
  }

  backward(): Promise<Tensor[]> {
    return Promise.resolve([]);
  }

  dispose(): Promise<void> {
    return Promise.resolve();
  }
}
