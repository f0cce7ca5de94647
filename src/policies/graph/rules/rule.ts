import type { GraphBuilder } from '../builder.ts';
import { padLeft, type Shape } from '../dims.ts';
import { type GraphNode, int64Tensor } from '../ir.ts';

/** What an operator's rule sees: one forward node, the cotangents of its outputs, and the graph to append to. */
export interface RuleContext {
  readonly node: GraphNode;
  readonly b: GraphBuilder;
  /** Version of the standard operators: decides where some of them take their axes. */
  readonly opset: number;
  /** Cotangents of all outputs; undefined where none arrived. */
  readonly dys: readonly (string | undefined)[];
  /** Cotangent of output 0. */
  readonly dy: string;
  /** Whether input `input` depends on a parameter; no gradient is needed otherwise. */
  wants(input: number): boolean;
  /** Statically known shape of a value of the forward graph. */
  shape(name: string): Shape | undefined;
  /** Content of a small integer value, where it is static. */
  ints(name: string): number[] | undefined;
  /** Numbers of a constant. */
  constant(name: string): number[] | undefined;
  /** Name of output `index` of the forward node, which is made to compute it if it does not yet. */
  extraOutput(index: number): string;
  /** Reports a form of the operator that the rule does not cover. */
  fail(problem: string, remedy: string): never;
}

/** Cotangents of the inputs, in order; undefined (or a shorter list) where there is none. */
export type Rule = (context: RuleContext) => readonly (string | undefined)[];

/** Sums over `axes`; the axes are an input of ReduceSum since opset 13. */
export function reduceSum(c: RuleContext, x: string, axes: readonly number[], keep: boolean): string {
  return c.b.emit('ReduceSum', [x, c.b.ints(axes)], { keepdims: keep ? 1 : 0 });
}

/** Means over `axes`, kept as dimensions of 1; the axes are an input of ReduceMean since opset 18. */
export function reduceMean(c: RuleContext, x: string, axes: readonly number[]): string {
  if (c.opset >= 18) return c.b.emit('ReduceMean', [x, c.b.ints(axes)], { keepdims: 1 });
  return c.b.emit('ReduceMean', [x], { axes, keepdims: 1 });
}

/** Rank of a forward value, or a failure that says so. */
export function rankOf(c: RuleContext, name: string): number {
  const shape = c.shape(name);
  return shape ? shape.length : c.fail(`the rank of "${name}" is unknown`, 'export with shape information');
}

/** `x` in the shape of the forward value `like`, by constants where at most one dimension is dynamic. */
export function reshapeLike(c: RuleContext, x: string, like: string): string {
  const shape = c.shape(like);
  const dynamic = shape?.filter((dim) => typeof dim === 'string').length;
  const positive = shape?.every((dim) => dim !== 0);
  const target =
    shape && positive && dynamic !== undefined && dynamic <= 1
      ? c.b.ints(shape.map((dim) => (typeof dim === 'number' ? dim : -1)))
      : c.b.shared('Shape', [like]);
  return c.b.emit('Reshape', [x, target]);
}

/** int64 [1]: one dimension of a forward value, a constant where it is static. `axis` >= 0. */
export function dimOf(c: RuleContext, name: string, axis: number): string {
  const dim = c.shape(name)?.[axis];
  if (typeof dim === 'number') return c.b.ints([dim]);
  const shape = c.b.shared('Shape', [name]);
  return c.b.shared('Slice', [shape, c.b.ints([axis]), c.b.ints([axis + 1]), c.b.ints([0])]);
}

/**
 * Sums `gradient`, which has the broadcast shape of forward value `like`, down to the shape of forward value `operand`:
 * the transpose of broadcasting. `shape` is that of `gradient` where it is not `like`'s.
 */
export function unbroadcast(
  c: RuleContext,
  gradient: string,
  operand: string,
  shape: Shape | undefined = c.shape(c.node.outputs[0]!),
): string {
  const small = c.shape(operand);
  if (!shape || !small) return unbroadcastDynamic(c, gradient, operand);
  const padded = padLeft(small, shape.length);
  const differing = shape.map((_, axis) => axis).filter((axis) => padded[axis] !== shape[axis]);
  if (differing.some((axis) => padded[axis] !== 1)) return unbroadcastDynamic(c, gradient, operand);
  const extra = shape.length - small.length;
  const leading = Array.from({ length: extra }, (_, axis) => axis);
  if (leading.length === 0 && differing.length === 0) return gradient;
  const axes = [...new Set([...leading, ...differing])];
  if (axes.every((axis) => axis < extra)) return reduceSum(c, gradient, axes, false);
  const summed = reduceSum(c, gradient, axes, true);
  return extra === 0 ? summed : reshapeLike(c, summed, operand);
}

/** `unbroadcast` where shapes are known only at run time: sums the axes in which they then differ. */
function unbroadcastDynamic(c: RuleContext, gradient: string, operand: string): string {
  const { b } = c;
  const big = b.emit('Shape', [gradient]);
  const small = b.shared('Shape', [operand]);
  const missing = b.emit('Sub', [b.emit('Shape', [big]), b.shared('Shape', [small])]);
  const ones = b.emit('ConstantOfShape', [missing], {
    value: { kind: 'tensor', value: int64Tensor([1], [1]) },
  });
  const padded = b.emit('Concat', [ones, small], { axis: 0 });
  const differs = b.emit('Not', [b.emit('Equal', [big, padded])]);
  const axes = b.emit('Reshape', [b.emit('NonZero', [differs]), b.ints([-1])]);
  const summed = b.emit('ReduceSum', [gradient, axes], { keepdims: 1, noop_with_empty_axes: 1 });
  return b.emit('Reshape', [summed, small]);
}
