import { type Graph, prune, sizeOf, type TensorValue, type ValueInfo } from './ir.ts';

export interface LiftedGraph {
  /** The graph with its weights as inputs, after its own inputs. */
  readonly graph: Graph;
  /** The weights, in the order of those inputs. */
  readonly weights: ReadonlyMap<string, TensorValue>;
}

/**
 * Turns the float32 initializers that `output` needs into graph inputs, so that weights are plain tensors of the engine.
 * Integers stay constants, as do floats of a single element: exporters write scale factors and epsilons so, and training
 * those would change the model's form. Whatever `output` does not need is dropped.
 */
export function liftInitializers(graph: Graph, output: ValueInfo): LiftedGraph {
  const needed = prune(graph, [output]);
  const isWeight = (value: TensorValue) => value.type === 'float32' && sizeOf(value.dims) > 1;
  const entries = [...needed.initializers];
  const weights = new Map(entries.filter(([, value]) => isWeight(value)));
  const lifted = [...weights].map(
    ([name, value]): ValueInfo => ({ name, type: value.type, shape: value.dims }),
  );
  return {
    graph: {
      ...needed,
      inputs: [...needed.inputs, ...lifted],
      initializers: new Map(entries.filter(([, value]) => !isWeight(value))),
    },
    weights,
  };
}
