/** Checks that a graph is well formed, so that inference and differentiation can rely on it. */

import { ModelError } from '../modelError.ts';
import { type Graph, type GraphNode, intAttribute, intsAttribute } from './ir.ts';

/** Fewest and most inputs of an operator; the fewest must all be given. */
type Arity = readonly [number, number];

const MANY = Number.POSITIVE_INFINITY;

function each(arity: Arity, ...operators: readonly string[]): Record<string, Arity> {
  return Object.fromEntries(operators.map((operator) => [operator, arity]));
}

/** Operators of the standard domain that have a differentiation or an inference rule. */
const ARITY: ReadonlyMap<string, Arity> = new Map(
  Object.entries({
    ...each([0, 0], 'Constant'),
    ...each([1, 1], 'Abs', 'ArgMax', 'ArgMin', 'Cast', 'Ceil', 'ConstantOfShape', 'Cos', 'Erf', 'Exp'),
    ...each([1, 1], 'Flatten', 'Floor', 'Gelu', 'Identity', 'IsInf', 'IsNaN', 'Log', 'LogSoftmax', 'Neg'),
    ...each([1, 1], 'NonZero', 'Not', 'Reciprocal', 'Relu', 'Round', 'Shape', 'Sigmoid', 'Sign', 'Sin'),
    ...each([1, 1], 'Size', 'Softmax', 'Sqrt', 'Tanh', 'Transpose'),
    ...each([1, 2], 'ReduceMax', 'ReduceMean', 'ReduceMin', 'ReduceProd', 'ReduceSum', 'Split', 'Squeeze'),
    ...each([1, 2], 'Trilu', 'Unsqueeze'),
    ...each([1, 3], 'Clip', 'Dropout'),
    ...each([1, MANY], 'Concat', 'Max', 'Min'),
    ...each([2, 2], 'Add', 'And', 'CumSum', 'Div', 'Equal', 'Expand', 'Gather', 'Greater', 'GreaterOrEqual'),
    ...each([2, 2], 'Less', 'LessOrEqual', 'MatMul', 'Mod', 'Mul', 'Or', 'Pow', 'Reshape', 'Sub', 'Xor'),
    ...each([2, 3], 'Gemm', 'LayerNormalization'),
    ...each([3, 3], 'Range', 'Where'),
    ...each([3, 5], 'Slice'),
  }),
);

/**
 * Checks that every value is defined once and before it is read, and that operators of the standard domain have the
 * inputs, outputs and flags that their rules read. Throws `ModelError` naming the node and what it was given.
 */
export function checkGraph(graph: Graph, model: string): void {
  const defined = new Set<string>(['']);
  const define = (name: string, where: string) => {
    if (name !== '' && defined.has(name)) {
      throw malformed(model, `${where} defines the value "${name}" a second time`, 'define each value once');
    }
    defined.add(name);
  };
  for (const { name } of graph.inputs) define(name, 'an input');
  for (const name of graph.initializers.keys()) define(name, 'an initializer');
  for (const node of graph.nodes) {
    const where = nodeLabel(node);
    const missing = node.inputs.find((input) => !defined.has(input));
    if (missing !== undefined) {
      const remedy = 'order the nodes so that each value is computed before it is read';
      throw malformed(model, `${where} reads "${missing}", which nothing before it defines`, remedy);
    }
    if (node.domain === '') checkNode(node, model);
    for (const output of node.outputs) define(output, where);
  }
  const absent = graph.outputs.find(({ name }) => !defined.has(name));
  if (absent) throw malformed(model, `nothing defines its output "${absent.name}"`, 'compute it by a node');
}

/** "node "x" (Add)", for errors. */
export function nodeLabel(node: GraphNode): string {
  return `node "${node.name}" (${node.op})`;
}

/** The result of `work` on one node; a `RangeError` of it becomes a `ModelError` that names the node. */
export function atNode<T>(node: GraphNode, model: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw malformed(
      model,
      `${nodeLabel(node)}: ${error.message}`,
      'export it again and check it with onnx.checker',
    );
  }
}

/** A `ModelError` for a graph that breaks ONNX's own rules. */
export function malformed(model: string, problem: string, remedy: string): ModelError {
  return new ModelError(model, `its graph is malformed: ${problem}`, remedy);
}

function checkNode(node: GraphNode, model: string): void {
  const where = nodeLabel(node);
  const arity = ARITY.get(node.op);
  if (arity) {
    const [fewest, most] = arity;
    const given = node.inputs.length;
    if (given < fewest || given > most || node.inputs.slice(0, fewest).includes('')) {
      const right = most === MANY ? `${fewest} or more` : fewest === most ? fewest : `${fewest} to ${most}`;
      throw malformed(model, `${where} has the inputs [${node.inputs.join(', ')}]`, `it takes ${right}`);
    }
    if (!node.outputs[0]) throw malformed(model, `${where} has no first output`, 'name its output');
  }
  for (const flag of ['transA', 'transB', 'keepdims']) {
    const value = intAttribute(node, flag, 0);
    if (value !== 0 && value !== 1) throw malformed(model, `${where} has ${flag} ${value}`, 'it is 0 or 1');
  }
  const perm = intsAttribute(node, 'perm');
  if (perm && [...perm].sort((a, b) => a - b).some((axis, index) => axis !== index)) {
    throw malformed(model, `${where} has perm [${perm}]`, `it holds 0 to ${perm.length - 1}, each once`);
  }
}
