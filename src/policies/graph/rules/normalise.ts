import { normaliseAxis } from '../dims.ts';
import { namedAxes } from '../inferenceRules.ts';
import { intAttribute } from '../ir.ts';
import { typeNumber } from '../onnxFile.ts';
import { type Rule, type RuleContext, rankOf, reduceMean, reduceSum, unbroadcast } from './rule.ts';

/** dx = y (dy - sum(dy y)). */
const softmax: Rule = (c) => {
  const y = c.node.outputs[0]!;
  const axis = intAttribute(c.node, 'axis', -1);
  const weighted = c.b.emit('Mul', [c.dy, y]);
  const total = reduceSum(c, weighted, [axis], true);
  return [c.b.emit('Sub', [weighted, c.b.emit('Mul', [y, total])])];
};

/** dx = dy - exp(y) sum(dy). */
const logSoftmax: Rule = (c) => {
  const axis = intAttribute(c.node, 'axis', -1);
  const total = reduceSum(c, c.dy, [axis], true);
  const share = c.b.emit('Mul', [c.b.emit('Exp', [c.node.outputs[0]!]), total]);
  return [c.b.emit('Sub', [c.dy, share])];
};

/**
 * y = xhat g + b, xhat = (x - mean) / std: with h = dy g, dx = (h - mean(h) - xhat mean(h xhat)) / std,
 * dg = sum(dy xhat), db = sum(dy). Mean and 1 / std are the forward node's own secondary outputs.
 */
const layerNormalization: Rule = (c) => {
  const [x = '', gain = '', bias = ''] = c.node.inputs;
  const rank = rankOf(c, x);
  const first = normaliseAxis(intAttribute(c.node, 'axis', -1), rank);
  const axes = Array.from({ length: rank - first }, (_, index) => first + index);
  const inverse = c.extraOutput(2);
  const xhat = c.b.emit('Mul', [c.b.emit('Sub', [x, c.extraOutput(1)]), inverse]);
  return [
    c.wants(0) ? layerNormInput(c, xhat, c.b.emit('Mul', [c.dy, gain]), inverse, axes) : undefined,
    c.wants(1) ? unbroadcast(c, c.b.emit('Mul', [c.dy, xhat]), gain) : undefined,
    c.wants(2) ? unbroadcast(c, c.dy, bias) : undefined,
  ];
};

function layerNormInput(c: RuleContext, xhat: string, h: string, inverse: string, axes: number[]): string {
  const along = c.b.emit('Mul', [xhat, reduceMean(c, c.b.emit('Mul', [h, xhat]), axes)]);
  const centred = c.b.emit('Sub', [h, reduceMean(c, h, axes)]);
  return c.b.emit('Mul', [c.b.emit('Sub', [centred, along]), inverse]);
}

/** Spreads dy of a reduction back over the reduced axes. */
function spread(c: RuleContext): string {
  const x = c.node.inputs[0]!;
  const axesInput = c.node.inputs[1];
  const axes = namedAxes(c.node, axesInput ? c.ints(axesInput) : []);
  if (!axes) return c.fail('its axes are not constant', 'export with constant axes');
  if (axes.length === 0 && intAttribute(c.node, 'noop_with_empty_axes', 0) === 1) return c.dy;
  const keeps = intAttribute(c.node, 'keepdims', 1) === 1 || axes.length === 0;
  const dy = keeps ? c.dy : c.b.emit('Unsqueeze', [c.dy, c.b.ints(unsqueezeAxes(c, x, axes))]);
  return c.b.emit('Expand', [dy, c.b.shared('Shape', [x])]);
}

/** Negative axes count from the end of x, which has more dimensions than dy. */
function unsqueezeAxes(c: RuleContext, x: string, axes: readonly number[]): readonly number[] {
  return axes.some((axis) => axis < 0) ? axes.map((axis) => normaliseAxis(axis, rankOf(c, x))) : axes;
}

/** The mean's gradient is the sum's divided by the number of elements in each mean, size(x) / size(y). */
const mean: Rule = (c) => {
  const size = (name: string) =>
    c.b.emit('Cast', [c.b.shared('Size', [name])], { to: typeNumber('float32') });
  const ratio = c.b.emit('Div', [size(c.node.outputs[0]!), size(c.node.inputs[0]!)]);
  return [c.b.emit('Mul', [spread(c), ratio])];
};

export const NORMALISE_RULES: Readonly<Record<string, Rule>> = {
  Softmax: softmax,
  LogSoftmax: logSoftmax,
  LayerNormalization: layerNormalization,
  ReduceSum: (c) => [spread(c)],
  ReduceMean: mean,
};
