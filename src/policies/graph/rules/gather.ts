import { normaliseAxis } from '../dims.ts';
import { intAttribute } from '../ir.ts';
import { typeNumber } from '../onnxFile.ts';
import { dimOf, type Rule, type RuleContext, rankOf, reshapeLike } from './rule.ts';

/**
 * y = data[indices] along an axis. The gradient adds dy's slices up where an index repeats: a product with the one-hot
 * matrix of the indices, [N, K]. Unlike ScatterND or ScatterElements with reduction `add` it needs no atomics, so sums
 * have one order, runs on both providers, and is no larger than the logits of a model with that vocabulary.
 */
const gather: Rule = (c) => {
  const data = c.node.inputs[0]!;
  const axis = normaliseAxis(intAttribute(c.node, 'axis', 0), rankOf(c, data));
  const hot = oneHot(c, data, axis);
  if (axis === 0) return [reshapeLike(c, c.b.emit('Gemm', [hot, asRows(c, hot)], { transA: 1 }), data)];
  const leading = Array.from({ length: axis }, (_, index) => dimOf(c, data, index));
  const rows = c.b.emit('Slice', [c.b.emit('Shape', [hot]), c.b.ints([0]), c.b.ints([1]), c.b.ints([0])]);
  const target = c.b.emit('Concat', [...leading, rows, c.b.ints([-1])], { axis: 0 });
  const slices = c.b.emit('Reshape', [c.dy, target]);
  const sums = c.b.emit('MatMul', [c.b.emit('Transpose', [hot], { perm: [1, 0] }), slices]);
  return [reshapeLike(c, sums, data)];
};

/** dy as [N, the rest], for axis 0. */
function asRows(c: RuleContext, hot: string): string {
  const rows = c.b.emit('Slice', [c.b.emit('Shape', [hot]), c.b.ints([0]), c.b.ints([1]), c.b.ints([0])]);
  return c.b.emit('Reshape', [c.dy, c.b.emit('Concat', [rows, c.b.ints([-1])], { axis: 0 })]);
}

/** float [N, K]: row n is 1 at the n-th index (in 0..K-1 after counting negative ones from the end), else 0. */
function oneHot(c: RuleContext, data: string, axis: number): string {
  const candidates = range(c, data, axis);
  const picked = c.b.emit('Gather', [candidates, c.node.inputs[1]!], { axis: 0 });
  const column = c.b.emit('Reshape', [picked, c.b.ints([-1, 1])]);
  return c.b.emit('Cast', [c.b.emit('Equal', [column, candidates])], { to: typeNumber('float32') });
}

/** Longest range that is written into the derived graph: above the vocabularies of models. */
const MAX_WRITTEN_RANGE = 2 ** 20;

/** int32 [K]: 0..K-1 for the gathered axis; int32 because int64 has no WebGPU kernels. */
function range(c: RuleContext, data: string, axis: number): string {
  const size = c.shape(data)?.[axis];
  if (typeof size === 'number' && size <= MAX_WRITTEN_RANGE)
    return c.b.int32s(
      Array.from({ length: size }, (_, k) => k),
      [size],
    );
  const limit = c.b.emit('Reshape', [dimOf(c, data, axis), c.b.emit('Shape', [c.b.int(0)])]);
  const numbers = c.b.emit('Range', [c.b.int(0), limit, c.b.int(1)]);
  return c.b.emit('Cast', [numbers], { to: typeNumber('int32') });
}

export const GATHER_RULES: Readonly<Record<string, Rule>> = { Gather: gather };
