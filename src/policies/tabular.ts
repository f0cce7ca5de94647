import type { Kernels, Tensor } from '../kernels/kernels.ts';
import type { Rng } from '../kernels/rng.ts';
import type { Observations, Parameter, Policy } from './policy.ts';

/** A logit table, one row a state: the policy class in which every state's distribution is free. */
export class TabularPolicy implements Policy {
  readonly kind = 'tabular';
  readonly nActions: number;
  readonly parameters: readonly Parameter[];
  readonly parameterCount: number;

  /** Takes over `table` [S, V]: it is the one parameter, named `logits`, and is released by `dispose`. */
  constructor(
    private readonly kernels: Kernels,
    private readonly table: Tensor,
  ) {
    const [, actions] = table.shape;
    if (table.shape.length !== 2 || actions === undefined) {
      throw new RangeError(`tabular policy: table of shape [${table.shape}], expected [states, actions]`);
    }
    this.nActions = actions;
    this.parameters = [{ name: 'logits', tensor: table }];
    this.parameterCount = table.size;
  }

  /** Row `data[b * T + t]` of the table for every observation. */
  async forward(observations: Observations): Promise<Tensor> {
    const index = this.indexOf(observations);
    const logits = this.kernels.gatherRows(this.table, index);
    this.kernels.release(index);
    return logits;
  }

  /** The transpose of `forward`: rows of dlogits summed into the states they came from. */
  async backward(observations: Observations, dlogits: Tensor): Promise<Tensor[]> {
    const index = this.indexOf(observations);
    const gradient = this.kernels.scatterAddRows(dlogits, index, this.table.shape[0]!);
    this.kernels.release(index);
    return [gradient];
  }

  async dispose(): Promise<void> {
    this.kernels.release(this.table);
  }

  private indexOf({ batch, steps, data }: Observations): Tensor {
    return this.kernels.tensor(data, [batch * steps], 'states');
  }
}

/**
 * A table with logits bias[action] + scale * normal: `scale` >= 0 sets how far from each other the states start, `bias`
 * [V] (default 0) what all of them prefer. float64 on cpu kernels.
 */
export function createTabularPolicy(options: {
  readonly states: number;
  readonly actions: number;
  readonly kernels: Kernels;
  readonly rng: Rng;
  readonly scale: number;
  readonly bias?: readonly number[];
}): TabularPolicy {
  const { states, actions, kernels, rng, scale, bias } = options;
  if (bias && bias.length !== actions) {
    throw new RangeError(`tabular policy: ${bias.length} biases, expected ${actions}, one an action`);
  }
  const draw = (_: unknown, index: number) => (bias?.[index % actions] ?? 0) + scale * rng.normal();
  const logits = Float64Array.from({ length: states * actions }, draw);
  return new TabularPolicy(kernels, kernels.tensor(logits, [states, actions], 'logit table'));
}
