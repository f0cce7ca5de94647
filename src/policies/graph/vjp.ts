/**
 * Reverse-mode differentiation of an ONNX graph, as in Griewank and Walther, "Evaluating Derivatives" (2008), chapter 3:
 * the derived graph repeats the forward pass and then walks its nodes backwards, turning the cotangent of each node's
 * outputs into cotangents of its inputs by the operator's rule.
 */

import { MissingRuleError, ModelError } from '../modelError.ts';
import { GraphBuilder } from './builder.ts';
import { constantsOf, type Graph, type GraphNode, numbersOf, prune, type TensorValue } from './ir.ts';
import { RULES } from './rules/index.ts';
import type { Rule, RuleContext } from './rules/rule.ts';
import { inferShapes, type ShapeInfo } from './shapes.ts';
import { atNode, nodeLabel } from './validate.ts';

export interface VjpOptions {
  /** Name of the model, for errors. */
  readonly model: string;
  /** Graph inputs to differentiate with respect to: float tensors of static shape. */
  readonly parameters: readonly string[];
  /** The differentiated output of the graph. */
  readonly output: string;
  /** Name of the added input: the gradient of the scalar with respect to `output`, of the same shape. */
  readonly cotangent: string;
}

/** Name of the derived graph's output that holds the gradient of `parameter`. */
export function gradientName(parameter: string): string {
  return `grad.${parameter}`;
}

/** Operators whose outputs are integers, booleans or piecewise constant: no gradient flows through them. */
const CONSTANT_LIKE: ReadonlySet<string> = new Set([
  ...['And', 'ArgMax', 'ArgMin', 'Ceil', 'ConstantOfShape', 'Equal', 'Floor', 'Greater', 'GreaterOrEqual'],
  ...['IsInf', 'IsNaN', 'Less', 'LessOrEqual', 'NonZero', 'Not', 'Or', 'Range', 'Round', 'Shape', 'Sign'],
  ...['Size', 'Xor'],
]);

/** TensorProto numbers of the float types. */
const FLOAT_TYPES = [1, 10, 11];

/**
 * The vector-Jacobian product of `graph`: a graph with all the inputs that `output` needs and `cotangent`, whose outputs are the gradients
 * of sum(output * cotangent) with respect to each of `parameters`, in that order, named by `gradientName`. Works for
 * dynamic batch and sequence dimensions. Throws `MissingRuleError` for an operator without a rule on a path from a
 * parameter to the output, and `ModelError` for a form of an operator that its rule does not cover.
 */
export function deriveVjp(graph: Graph, options: VjpOptions): Graph {
  const output = graph.outputs.find((value) => value.name === options.output);
  if (!output) throw new ModelError(options.model, `it has no output "${options.output}"`, 'name it so');
  const forward = prune(graph, [output]);
  const tape = new Tape(forward, options);
  tape.run();
  const parameters = options.parameters.map((name) => graph.inputs.find((input) => input.name === name)!);
  const inputs = graph.inputs.filter((input) => forward.inputs.includes(input) || parameters.includes(input));
  const derived: Graph = {
    name: `${graph.name}_vjp`,
    opsets: graph.opsets,
    nodes: tape.nodes(),
    inputs: [...inputs, { ...output, name: options.cotangent }],
    outputs: parameters.map((input) => ({ ...input, name: gradientName(input.name) })),
    initializers: new Map([...forward.initializers, ...tape.builder.initializers]),
  };
  return { ...prune(derived, derived.outputs), inputs: derived.inputs };
}

/** The backward walk over one forward graph. */
class Tape {
  readonly builder = new GraphBuilder('vjp/');
  private readonly info: ShapeInfo;
  private readonly constants: ReadonlyMap<string, TensorValue>;
  private readonly active: ReadonlySet<string>;
  /** Nodes on a differentiable path from a parameter to the output, in forward order. */
  private readonly path: readonly GraphNode[];
  /** Cotangents that later nodes contributed, by value. */
  private readonly contributions = new Map<string, string[]>();
  /** Derived values that are a parameter's gradient, by the name of that output. */
  private readonly renamed = new Map<string, string>();
  /** Forward nodes, where a rule asked for more of their outputs. */
  private readonly extended = new Map<GraphNode, GraphNode>();

  constructor(
    private readonly forward: Graph,
    private readonly options: VjpOptions,
  ) {
    this.info = inferShapes(forward, options.model);
    this.constants = constantsOf(forward);
    this.active = activeValues(forward, options.parameters);
    this.path = differentiablePath(forward, this.active, options.output);
  }

  run(): void {
    for (const node of this.path) this.ruleOf(node);
    this.contribute(this.options.output, this.options.cotangent);
    for (const node of [...this.path].reverse()) {
      const cotangents = node.outputs.map((name) => this.total(name));
      if (cotangents.every((cotangent) => cotangent === undefined)) continue;
      const context = this.contextOf(node, cotangents);
      const gradients = atNode(node, this.options.model, () => this.ruleOf(node)(context));
      gradients.forEach((gradient, index) => {
        if (gradient !== undefined) this.contribute(node.inputs[index]!, gradient);
      });
    }
    for (const parameter of this.options.parameters) this.finish(parameter);
  }

  nodes(): GraphNode[] {
    const rename = (name: string) => this.renamed.get(name) ?? name;
    return [
      ...this.forward.nodes.map((node) => this.extended.get(node) ?? node),
      ...this.builder.nodes.map((node) => ({
        ...node,
        inputs: node.inputs.map(rename),
        outputs: node.outputs.map(rename),
      })),
    ];
  }

  private contribute(value: string, cotangent: string): void {
    this.contributions.set(value, [...(this.contributions.get(value) ?? []), cotangent]);
  }

  /** The sum of all contributions to the cotangent of `value`. */
  private total(value: string): string | undefined {
    const parts = this.contributions.get(value);
    if (!parts) return undefined;
    const sum = parts.reduce((left, right) => this.builder.emit('Add', [left, right]));
    this.contributions.set(value, [sum]);
    return sum;
  }

  /** Makes the total cotangent of `parameter` an output; zeros where no gradient arrived. */
  private finish(parameter: string): void {
    const gradient = this.total(parameter);
    const name = gradientName(parameter);
    if (gradient !== undefined) {
      const isDerived = this.builder.nodes.some((node) => node.outputs.includes(gradient));
      if (isDerived && !this.renamed.has(gradient)) this.renamed.set(gradient, name);
      else this.builder.emit('Identity', [gradient], {}, name);
      return;
    }
    const shape = this.builder.shared('Shape', [parameter]);
    this.builder.emit('Expand', [this.builder.float(0), shape], {}, name);
  }

  private ruleOf(node: GraphNode): Rule {
    const rule = node.domain === '' ? RULES[node.op] : undefined;
    if (rule) return rule;
    const domain = node.domain || 'ai.onnx';
    const opset = this.forward.opsets.get(node.domain);
    throw new MissingRuleError(
      this.options.model,
      node.op,
      node.name,
      `operator ${node.op} (domain ${domain}, opset ${opset}) of node "${node.name}" cannot be differentiated`,
      Object.keys(RULES),
    );
  }

  private contextOf(node: GraphNode, dys: readonly (string | undefined)[]): RuleContext {
    const fail = (problem: string, remedy: string): never => {
      throw new ModelError(this.options.model, `${nodeLabel(node)}: ${problem}`, remedy);
    };
    return {
      node,
      b: this.builder,
      opset: this.forward.opsets.get('') ?? 0,
      dys,
      dy: dys[0] ?? fail('a gradient reaches only a secondary output', 'use its first output'),
      wants: (input) => this.active.has(node.inputs[input] ?? ''),
      shape: (name) => this.info.shapes.get(name),
      ints: (name) => {
        const content = this.info.contents.get(name);
        return content?.every((dim) => typeof dim === 'number') ? content.map(Number) : undefined;
      },
      constant: (name) => {
        const value = this.constants.get(name);
        return value && numbersOf(value);
      },
      extraOutput: (index) => this.extraOutput(node, index),
      fail,
    };
  }

  private extraOutput(node: GraphNode, index: number): string {
    const current = this.extended.get(node) ?? node;
    const outputs = [...current.outputs];
    while (outputs.length <= index) outputs.push('');
    outputs[index] ||= `vjp/${node.outputs[0]}_output${index}`;
    this.extended.set(node, { ...current, outputs });
    return outputs[index];
  }
}

/** Values that depend differentiably on one of `parameters`. */
function activeValues(graph: Graph, parameters: readonly string[]): Set<string> {
  const active = new Set(parameters);
  for (const node of graph.nodes) {
    if (stopsGradient(node) || !node.inputs.some((input) => active.has(input))) continue;
    for (const output of node.outputs) if (output) active.add(output);
  }
  return active;
}

/** Nodes that pass a gradient from `output` on to an active value. */
function differentiablePath(graph: Graph, active: ReadonlySet<string>, output: string): GraphNode[] {
  const reached = new Set([output]);
  const path: GraphNode[] = [];
  for (const node of [...graph.nodes].reverse()) {
    if (!node.outputs.some((name) => reached.has(name) && active.has(name))) continue;
    path.push(node);
    for (const input of node.inputs) reached.add(input);
  }
  return path.reverse();
}

function stopsGradient(node: GraphNode): boolean {
  if (node.op !== 'Cast') return CONSTANT_LIKE.has(node.op);
  const to = node.attributes.get('to');
  return to?.kind === 'int' && !FLOAT_TYPES.includes(to.value);
}
