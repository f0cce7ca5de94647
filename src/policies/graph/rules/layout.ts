import { normaliseAxis } from '../dims.ts';
import { intAttribute, intsAttribute } from '../ir.ts';
import { typeNumber } from '../onnxFile.ts';
import { dimOf, type Rule, type RuleContext, rankOf, reshapeLike, unbroadcast } from './rule.ts';

const likeInput: Rule = (c) => [reshapeLike(c, c.dy, c.node.inputs[0]!)];

const transpose: Rule = (c) => {
  const given = intsAttribute(c.node, 'perm');
  const rank = given?.length ?? rankOf(c, c.node.inputs[0]!);
  const perm = given ?? Array.from({ length: rank }, (_, axis) => rank - 1 - axis);
  const inverse = perm.map((_, axis) => perm.indexOf(axis));
  return [c.b.emit('Transpose', [c.dy], { perm: inverse })];
};

/** Cuts dy into the pieces that were joined. */
const concat: Rule = (c) => {
  const axis = normaliseAxis(intAttribute(c.node, 'axis', 0), rankOf(c, c.node.inputs[0]!));
  const sizes = c.node.inputs.map((input) => dimOf(c, input, axis));
  if (sizes.length === 1) return [c.dy];
  const split = c.b.emit('Concat', sizes, { axis: 0 });
  return c.b.emitMany('Split', [c.dy, split], { axis }, sizes.length);
};

/** Joins the pieces' cotangents; a piece that nothing reads has cotangent 0. */
const split: Rule = (c) => {
  const axis = normaliseAxis(intAttribute(c.node, 'axis', 0), rankOf(c, c.node.inputs[0]!));
  const pieces = c.node.outputs.map(
    (output, index) => c.dys[index] ?? c.b.emit('Expand', [c.b.float(0), c.b.shared('Shape', [output])]),
  );
  return [c.b.emit('Concat', pieces, { axis })];
};

/**
 * Pads dy with zeros to the size of the sliced tensor: per axis, `start` of them before and what is missing after. Starts
 * may be computed at run time and negative; steps other than 1 are not covered.
 */
const slice: Rule = (c) => {
  const [x = '', starts = '', , axesInput, stepsInput] = c.node.inputs;
  const steps = stepsInput ? c.ints(stepsInput) : [];
  if (!steps || steps.some((step) => step !== 1)) {
    return c.fail('its steps are not 1', 'export without strided slices');
  }
  const rank = rankOf(c, x);
  const count = c.ints(starts)?.length ?? c.shape(starts)?.[0];
  const isFirstAxes = !axesInput && typeof count === 'number' && count <= rank;
  const axes = axesInput
    ? c.ints(axesInput)
    : isFirstAxes && Array.from({ length: count }, (_, axis) => axis);
  if (!axes) return c.fail('its axes are not constant', 'export with constant axes');
  const zero = c.b.ints([0]);
  const before = Array.from({ length: rank }, () => zero);
  const after = [...before];
  axes.forEach((named, index) => {
    const axis = normaliseAxis(named, rank);
    const size = dimOf(c, x, axis);
    before[axis] = firstIndex(c, starts, index, size);
    const kept = dimOf(c, c.node.outputs[0]!, axis);
    after[axis] = c.b.emit('Sub', [c.b.emit('Sub', [size, kept]), before[axis]]);
  });
  const pads = c.b.emit('Concat', [...before, ...after], { axis: 0 });
  return [c.b.emit('Pad', [c.dy, pads, c.b.float(0)])];
};

/** int64 [1]: start `index` of a slice as a position in 0..size. */
function firstIndex(c: RuleContext, starts: string, index: number, size: string): string {
  const known = c.ints(starts)?.[index];
  if (known === 0) return c.b.ints([0]);
  const picked =
    known === undefined
      ? c.b.emit('Cast', [c.b.emit('Gather', [starts, c.b.ints([index])])], { to: typeNumber('int64') })
      : c.b.ints([known]);
  const zero = c.b.ints([0]);
  const fromEnd = c.b.emit('Add', [picked, size]);
  const position = c.b.emit('Where', [c.b.emit('Less', [picked, zero]), fromEnd, picked]);
  return c.b.emit('Min', [c.b.emit('Max', [position, zero]), size]);
}

const trilu: Rule = (c) => {
  const diagonal = c.node.inputs[1];
  const upper = intAttribute(c.node, 'upper', 1);
  return [c.b.emit('Trilu', diagonal ? [c.dy, diagonal] : [c.dy], { upper })];
};

export const LAYOUT_RULES: Readonly<Record<string, Rule>> = {
  Reshape: likeInput,
  Flatten: likeInput,
  Squeeze: likeInput,
  Unsqueeze: likeInput,
  Transpose: transpose,
  Concat: concat,
  Split: split,
  Slice: slice,
  Expand: (c) => [unbroadcast(c, c.dy, c.node.inputs[0]!)],
  Trilu: trilu,
};
