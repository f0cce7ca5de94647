/** Checks that a graph is a causal language model in Hugging Face Optimum's names, before anything runs. */

import { floatsOf, type Graph, sizeOf, type ValueInfo } from './graph/ir.ts';
import { type LiftedGraph, liftInitializers } from './graph/lift.ts';
import { ModelError } from './modelError.ts';

/** Opsets of the standard domain whose operators the differentiation rules describe. */
const MIN_OPSET = 13;
const MAX_OPSET = 23;

/** Inputs beside the tokens that can be filled in from the shape [B, T] alone. */
type TokenInput = 'input_ids' | 'attention_mask' | 'position_ids';
const TOKEN_INPUTS: readonly string[] = ['input_ids', 'attention_mask', 'position_ids'];

export interface ModelInterface extends LiftedGraph {
  /** Token inputs that the logits depend on, with their integer type. */
  readonly tokenInputs: readonly { readonly name: TokenInput; readonly type: 'int32' | 'int64' }[];
  readonly logits: ValueInfo;
  /** V */
  readonly vocabulary: number;
}

/**
 * Finds tokens, logits and weights of `graph`. Throws `ModelError` for an opset outside 13 to 23, a missing or
 * misshapen `input_ids` or `logits`, inputs that a policy cannot fill in, and weights that are missing, empty or not
 * finite.
 */
export function readInterface(graph: Graph, model: string): ModelInterface {
  checkOpset(graph, model);
  const logits = graph.outputs.find((output) => output.name === 'logits');
  if (!logits) {
    throw new ModelError(model, `its outputs are ${list(graph.outputs)}`, 'one must be named "logits"');
  }
  const lifted = liftInitializers(graph, logits);
  checkTypes(graph, model);
  if (lifted.weights.size === 0) {
    throw new ModelError(model, 'it has no float32 weights', 'store them as initializers of type float32');
  }
  checkWeights(lifted, model);
  const vocabulary = vocabularyOf(logits, model);
  checkEmbedding(lifted, vocabulary, model);
  return { ...lifted, tokenInputs: tokenInputs(lifted, model), logits, vocabulary };
}

function list(values: readonly ValueInfo[]): string {
  return values.map((value) => `"${value.name}"`).join(', ') || 'none';
}

function checkOpset(graph: Graph, model: string): void {
  const opset = graph.opsets.get('');
  if (opset === undefined || opset < MIN_OPSET || opset > MAX_OPSET) {
    throw new ModelError(
      model,
      `it uses opset ${opset ?? '(none)'} of ai.onnx`,
      `export it with an opset from ${MIN_OPSET} to ${MAX_OPSET}`,
    );
  }
}

function checkTypes(graph: Graph, model: string): void {
  for (const [name, value] of graph.initializers) {
    if (value.type === 'float16' || value.type === 'float64') {
      throw new ModelError(model, `weight "${name}" is ${value.type}`, 'export the model as float32');
    }
  }
}

function checkWeights({ graph, weights }: LiftedGraph, model: string): void {
  for (const [name, { type, dims }] of [...graph.initializers, ...weights]) {
    if (type === 'float32' && sizeOf(dims) === 0) {
      throw new ModelError(model, `weight "${name}" has dimensions [${dims}]`, 'no dimension may be 0');
    }
  }
  for (const [name, value] of weights) {
    const numbers = floatsOf(value);
    const index = numbers.findIndex((number) => !Number.isFinite(number));
    if (index >= 0) {
      throw new ModelError(
        model,
        `weight "${name}" is ${numbers[index]} at ${index}`,
        'weights must be finite',
      );
    }
  }
}

function tokenInputs(lifted: LiftedGraph, model: string): ModelInterface['tokenInputs'] {
  const inputs = lifted.graph.inputs.filter((input) => !lifted.weights.has(input.name));
  if (!inputs.some((input) => input.name === 'input_ids')) {
    throw new ModelError(
      model,
      `its logits depend on the inputs ${list(inputs)}`,
      'one must be named "input_ids" and hold tokens [batch, sequence]',
    );
  }
  return inputs.map((input) => {
    const { name, type, shape } = input;
    if (!TOKEN_INPUTS.includes(name)) {
      throw new ModelError(
        model,
        `it needs an input "${name}"`,
        `only ${TOKEN_INPUTS.join(', ')} can be given`,
      );
    }
    if ((type !== 'int32' && type !== 'int64') || shape?.length !== 2 || shape.some(isNumber)) {
      throw new ModelError(
        model,
        `input "${name}" is ${type} [${shape?.join(', ') ?? 'unknown'}]`,
        'it must be int32 or int64 [batch, sequence] with both dimensions dynamic',
      );
    }
    return { name: name as TokenInput, type };
  });
}

function isNumber(dim: number | string): boolean {
  return typeof dim === 'number';
}

function vocabularyOf(logits: ValueInfo, model: string): number {
  const [batch, steps, vocabulary] = logits.shape ?? [];
  const isDynamic = typeof batch !== 'number' && typeof steps !== 'number';
  if (
    logits.type !== 'float32' ||
    logits.shape?.length !== 3 ||
    !isDynamic ||
    typeof vocabulary !== 'number'
  ) {
    throw new ModelError(
      model,
      `its logits are ${logits.type} [${logits.shape?.join(', ') ?? 'unknown'}]`,
      'they must be float32 [batch, sequence, V] with V a number and the others dynamic',
    );
  }
  return vocabulary;
}

/** Every token that the logits can choose must have an embedding, for it is read back as the next observation. */
function checkEmbedding({ graph, weights }: LiftedGraph, vocabulary: number, model: string): void {
  for (const node of graph.nodes) {
    const [table = '', indices] = node.inputs;
    const rows = weights.get(table)?.dims[0];
    if (node.op === 'Gather' && indices === 'input_ids' && rows !== undefined && rows < vocabulary) {
      throw new ModelError(
        model,
        `its embedding "${table}" has ${rows} rows but its logits ${vocabulary} entries`,
        'both must be the size of the vocabulary',
      );
    }
  }
}
