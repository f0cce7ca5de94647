import { stringAttribute } from '../ir.ts';
import { typeNumber } from '../onnxFile.ts';
import { type Rule, type RuleContext, unbroadcast } from './rule.ts';

/** A rule for y = f(x) on one input: `gradient` returns dx. */
function unary(gradient: (c: RuleContext, x: string, y: string) => string): Rule {
  return (c) => [gradient(c, c.node.inputs[0]!, c.node.outputs[0]!)];
}

const mul = (c: RuleContext, a: string, b: string) => c.b.emit('Mul', [a, b]);
const scale = (c: RuleContext, a: string, factor: number) => c.b.emit('Mul', [a, c.b.float(factor)]);
const oneMinus = (c: RuleContext, a: string) => c.b.emit('Sub', [c.b.float(1), a]);

const add: Rule = (c) =>
  c.node.inputs.map((input, index) => (c.wants(index) ? unbroadcast(c, c.dy, input) : undefined));

const sub: Rule = (c) => {
  const [a = '', b = ''] = c.node.inputs;
  return [
    c.wants(0) ? unbroadcast(c, c.dy, a) : undefined,
    c.wants(1) ? unbroadcast(c, c.b.emit('Neg', [c.dy]), b) : undefined,
  ];
};

const multiply: Rule = (c) => {
  const [a = '', b = ''] = c.node.inputs;
  return [
    c.wants(0) ? unbroadcast(c, mul(c, c.dy, b), a) : undefined,
    c.wants(1) ? unbroadcast(c, mul(c, c.dy, a), b) : undefined,
  ];
};

/** y = a / b: da = dy / b, db = -dy y / b. */
const divide: Rule = (c) => {
  const [a = '', b = ''] = c.node.inputs;
  const quotient = c.b.emit('Div', [c.dy, b]);
  const db = () => c.b.emit('Neg', [mul(c, quotient, c.node.outputs[0]!)]);
  return [
    c.wants(0) ? unbroadcast(c, quotient, a) : undefined,
    c.wants(1) ? unbroadcast(c, db(), b) : undefined,
  ];
};

/** y = x^p for a constant scalar p: dx = dy p x^(p-1). */
const power: Rule = (c) => {
  const [x = '', exponent = ''] = c.node.inputs;
  const values = c.constant(exponent);
  if (c.wants(1) || values?.length !== 1) {
    return c.fail('its exponent is not a constant number', 'write it with Exp and Log');
  }
  const p = values[0]!;
  const slope = p === 2 ? scale(c, x, 2) : scale(c, c.b.emit('Pow', [x, c.b.float(p - 1)]), p);
  return [mul(c, c.dy, slope)];
};

const where: Rule = (c) => {
  const [condition = '', a = '', b = ''] = c.node.inputs;
  const zero = c.b.float(0);
  return [
    undefined,
    c.wants(1) ? unbroadcast(c, c.b.emit('Where', [condition, c.dy, zero]), a) : undefined,
    c.wants(2) ? unbroadcast(c, c.b.emit('Where', [condition, zero, c.dy]), b) : undefined,
  ];
};

/** Exact GELU x Phi(x): slope Phi(x) + x phi(x), Phi the standard normal distribution and phi its density. */
function geluSlope(c: RuleContext, x: string): string {
  const erf = c.b.emit('Erf', [scale(c, x, Math.SQRT1_2)]);
  const distribution = scale(c, c.b.emit('Add', [erf, c.b.float(1)]), 0.5);
  const bell = c.b.emit('Exp', [scale(c, mul(c, x, x), -0.5)]);
  const density = scale(c, bell, 1 / Math.sqrt(2 * Math.PI));
  return c.b.emit('Add', [distribution, mul(c, x, density)]);
}

/**
 * GELU's tanh form is x sigmoid(v), v = x (k + q x^2), k = 2 sqrt(2/pi), q = 0.044715 k: slope
 * s + x s (1 - s) (k + 3 q x^2), s = sigmoid(v).
 */
function geluTanhSlope(c: RuleContext, x: string): string {
  const k = 2 * Math.sqrt(2 / Math.PI);
  const square = scale(c, mul(c, x, x), 0.044715 * k);
  const sigmoid = c.b.emit('Sigmoid', [mul(c, x, c.b.emit('Add', [square, c.b.float(k)]))]);
  const inner = c.b.emit('Add', [scale(c, square, 3), c.b.float(k)]);
  const bend = mul(c, mul(c, x, oneMinus(c, sigmoid)), inner);
  return mul(c, sigmoid, c.b.emit('Add', [bend, c.b.float(1)]));
}

const gelu = unary((c, x) => {
  const isTanh = stringAttribute(c.node, 'approximate', 'none') === 'tanh';
  return mul(c, c.dy, isTanh ? geluTanhSlope(c, x) : geluSlope(c, x));
});

export const ELEMENTWISE_RULES: Readonly<Record<string, Rule>> = {
  Add: add,
  Sub: sub,
  Mul: multiply,
  Div: divide,
  Pow: power,
  Where: where,
  Neg: unary((c) => c.b.emit('Neg', [c.dy])),
  Sqrt: unary((c, _, y) => c.b.emit('Div', [scale(c, c.dy, 0.5), y])),
  Reciprocal: unary((c, _, y) => c.b.emit('Neg', [mul(c, c.dy, mul(c, y, y))])),
  Exp: unary((c, _, y) => mul(c, c.dy, y)),
  Log: unary((c, x) => c.b.emit('Div', [c.dy, x])),
  Tanh: unary((c, _, y) => mul(c, c.dy, oneMinus(c, mul(c, y, y)))),
  Sigmoid: unary((c, _, y) => mul(c, c.dy, mul(c, y, oneMinus(c, y)))),
  Relu: unary((c, x) => c.b.emit('Where', [c.b.emit('Greater', [x, c.b.float(0)]), c.dy, c.b.float(0)])),
  Erf: unary((c, x) => {
    const bell = c.b.emit('Exp', [c.b.emit('Neg', [mul(c, x, x)])]);
    return mul(c, c.dy, scale(c, bell, 2 / Math.sqrt(Math.PI)));
  }),
  Gelu: gelu,
  Identity: (c) => [c.dy],
  Cast: (c) => [c.b.emit('Cast', [c.dy], { to: typeNumber('float32') })],
};
