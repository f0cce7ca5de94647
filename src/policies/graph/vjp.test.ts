import { describe, expect, test } from 'vitest';
import {
  type Declared,
  expectGradients,
  type GradientCase,
  graphOf,
} from '../../../test/support/gradientCheck.ts';
import { MissingRuleError, ModelError } from '../modelError.ts';
import { type AttributeValue, float } from './builder.ts';
import { floatTensor, int64Tensor, type TensorValue } from './ir.ts';
import { RULES } from './rules/index.ts';
import { deriveVjp } from './vjp.ts';

type Attributes = Readonly<Record<string, AttributeValue>>;

/** One operator applied to x0, x1, ... */
function op(name: string, shapes: GradientCase['shapes'], attributes: Attributes = {}): GradientCase {
  const inputs = shapes.map((_, index) => `x${index}`);
  const written = shapes.map((shape) => `[${shape}]`).join(' ');
  return {
    name: `${name} ${written} ${JSON.stringify(attributes)}`,
    shapes,
    build: (b) => b.emit(name, inputs, attributes, 'y'),
  };
}

const positive = (normal: number) => 0.5 + Math.abs(normal);
/** Away from the kink at 0, by more than two difference steps. */
const awayFromZero = (normal: number) => normal + 0.25 * Math.sign(normal);
const within = (c: GradientCase, domain: (normal: number) => number): GradientCase => ({ ...c, domain });
const constant = (value: TensorValue): Attributes => ({ value: { kind: 'tensor', value } });

const ELEMENTWISE: readonly GradientCase[] = [
  ...['Add', 'Sub', 'Mul'].flatMap((name) => [
    op(name, [
      [2, 3],
      [2, 3],
    ]),
    op(name, [
      [2, 3, 2],
      [3, 2],
    ]),
    op(name, [
      [3, 1],
      [2, 1, 4],
    ]),
    op(name, [[], [2, 2]]),
  ]),
  within(
    op('Div', [
      [2, 3],
      [2, 3],
    ]),
    positive,
  ),
  within(op('Div', [[3], [2, 1]]), positive),
  ...['Neg', 'Exp', 'Tanh', 'Sigmoid', 'Erf', 'Identity', 'Gelu'].map((name) => op(name, [[2, 3]])),
  op('Gelu', [[2, 5]], { approximate: 'tanh' }),
  ...['Sqrt', 'Log', 'Reciprocal'].map((name) => within(op(name, [[2, 3]]), positive)),
  within(op('Relu', [[3, 4]]), awayFromZero),
  op('Cast', [[4]], { to: 1 }),
  ...[2, 3, 0.5, -1].map((p) =>
    within(
      { ...op('Pow', [[2, 3]]), name: `Pow ${p}`, build: (b) => b.emit('Pow', ['x0', b.float(p)], {}, 'y') },
      positive,
    ),
  ),
  {
    name: 'Where with a broadcast condition and operands',
    shapes: [[2, 3], [3], [2, 1]],
    build: (b) => {
      const condition = b.emit('Less', ['x0', b.float(0)]);
      b.emit('Where', [condition, 'x1', 'x2'], {}, 'y');
    },
    domain: awayFromZero,
  },
];

const PRODUCTS: readonly GradientCase[] = [
  op('MatMul', [
    [2, 3],
    [3, 4],
  ]),
  op('MatMul', [
    [2, 2, 3],
    [3, 2],
  ]),
  op('MatMul', [
    [2, 2, 3],
    [2, 3, 2],
  ]),
  op('MatMul', [
    [2, 1, 2, 3],
    [3, 3, 2],
  ]),
  op('MatMul', [
    [2, 3],
    [2, 3, 2],
  ]),
  ...[0, 1].flatMap((transA) =>
    [0, 1].map((transB) =>
      op('Gemm', [transA ? [3, 2] : [2, 3], transB ? [4, 3] : [3, 4], [4]], {
        transA,
        transB,
        alpha: float(0.5),
      }),
    ),
  ),
  op(
    'Gemm',
    [
      [2, 3],
      [3, 2],
      [2, 1],
    ],
    { beta: float(-2) },
  ),
  op('Gemm', [
    [2, 3],
    [3, 2],
  ]),
];

const NORMALISING: readonly GradientCase[] = [
  ...['Softmax', 'LogSoftmax'].flatMap((name) => [op(name, [[2, 4]]), op(name, [[2, 3, 2]], { axis: 1 })]),
  op('LayerNormalization', [[2, 2, 4], [4], [4]], { axis: -1, epsilon: float(1e-5) }),
  op('LayerNormalization', [[3, 4], [4]]),
  op(
    'LayerNormalization',
    [
      [2, 2, 3],
      [2, 3],
      [2, 3],
    ],
    { axis: 1 },
  ),
  ...['ReduceSum', 'ReduceMean'].flatMap((name) =>
    [[0], [-1], [0, 2]].flatMap((axes) =>
      [0, 1].map(
        (keepdims): GradientCase => ({
          name: `${name} over [${axes}] keepdims ${keepdims}`,
          shapes: [[2, 3, 2]],
          build: (b) => b.emit(name, ['x0', b.ints(axes)], { keepdims }, 'y'),
        }),
      ),
    ),
  ),
  { ...op('ReduceMean', [[2, 3]], { axes: [1] }), opset: 17 },
  op('ReduceSum', [[2, 3]], { keepdims: 0 }),
  op('ReduceSum', [[2, 3]], { noop_with_empty_axes: 1 }),
];

const LAYOUT: readonly GradientCase[] = [
  { name: 'Reshape', shapes: [[2, 3, 2]], build: (b) => b.emit('Reshape', ['x0', b.ints([0, -1])], {}, 'y') },
  op('Flatten', [[2, 3, 2]]),
  op('Transpose', [[2, 3, 2]], { perm: [2, 0, 1] }),
  op('Transpose', [[2, 3]]),
  {
    name: 'Unsqueeze',
    shapes: [[2, 3]],
    build: (b) => b.emit('Unsqueeze', ['x0', b.ints([0, -1])], {}, 'y'),
  },
  { name: 'Squeeze', shapes: [[2, 1, 3]], build: (b) => b.emit('Squeeze', ['x0', b.ints([1])], {}, 'y') },
  op(
    'Concat',
    [
      [2, 3],
      [2, 1],
      [2, 2],
    ],
    { axis: -1 },
  ),
  op('Concat', [[2, 3]], { axis: 0 }),
  {
    name: 'Expand',
    shapes: [[3, 1]],
    build: (b) => b.emit('Expand', ['x0', b.ints([2, 1, 4])], {}, 'y'),
  },
  {
    name: 'Split of which one piece is unused',
    shapes: [[2, 6]],
    build: (b) => {
      const [first, , last] = b.emitMany('Split', ['x0', b.ints([1, 2, 3])], { axis: -1 }, 3);
      b.emit('Mul', [first!, last!], {}, 'y');
    },
  },
  ...[
    { starts: [1], ends: [3], axes: [0] },
    { starts: [-2], ends: [Number.MAX_SAFE_INTEGER], axes: [-1] },
    { starts: [0, 1], ends: [2, -1], axes: [0, 2] },
    { starts: [-100], ends: [2], axes: [2] },
  ].map(
    ({ starts, ends, axes }): GradientCase => ({
      name: `Slice ${starts}:${ends} of axes ${axes}`,
      shapes: [[4, 2, 3]],
      build: (b) => b.emit('Slice', ['x0', b.ints(starts), b.ints(ends), b.ints(axes)], {}, 'y'),
    }),
  ),
  {
    name: 'Slice without axes, bounds given at run time',
    shapes: [[4, 3]],
    integers: {
      starts: { location: 'host', data: Int32Array.of(1, -2), dims: [2] },
      ends: { location: 'host', data: Int32Array.of(4, 3), dims: [2] },
    },
    build: (b) => b.emit('Slice', ['x0', 'starts', 'ends', b.int32s([0, 1], [2])], {}, 'y'),
  },
  op('Trilu', [[3, 3]], { upper: 0 }),
  { name: 'Trilu k = 1', shapes: [[2, 3, 3]], build: (b) => b.emit('Trilu', ['x0', b.int(1)], {}, 'y') },
];

const indices = (data: Int32Array | BigInt64Array, dims: readonly number[]) => ({
  indices: { location: 'host', data, dims } as const,
});
const gather = (shape: readonly number[], axis: number): GradientCase => ({
  ...op('Gather', [shape], { axis }),
  name: `Gather from [${shape}] along ${axis}, repeated and negative indices`,
  build: (b) => b.emit('Gather', ['x0', 'indices'], { axis }, 'y'),
  integers: indices(BigInt64Array.of(1n, 0n, 1n, -1n, 1n, 2n), [2, 3]),
});
const GATHERS: readonly GradientCase[] = [
  gather([4, 2], 0),
  gather([4], 0),
  gather([3, 2, 2], 0),
  gather([2, 3], 1),
  gather([2, 3, 2], -2),
  { ...gather([3, 2], 0), integers: indices(Int32Array.of(2), []), name: 'Gather one row' },
];

const ALL = [...ELEMENTWISE, ...PRODUCTS, ...NORMALISING, ...LAYOUT, ...GATHERS];

describe.each<Declared>(['static', 'symbolic'])('finite differences, %s shapes', (declared) => {
  test.each(ALL)('$name', (c) => expectGradients(c, declared));
});

test.each(ELEMENTWISE.filter((c) => c.shapes.length === 2))(
  'finite differences without any shape: $name',
  (c) => expectGradients(c, 'unknown'),
);

test('every rule has a finite-difference case', () => {
  const covered = new Set(ALL.flatMap((c) => graphOf(c, 'static').nodes.map((node) => node.op)));
  expect(Object.keys(RULES).filter((name) => !covered.has(name))).toEqual([]);
});

const derive = (c: GradientCase) =>
  deriveVjp(graphOf(c, 'static'), { model: 'case.onnx', parameters: ['x0'], output: 'y', cotangent: 'dy' });

test('an operator without a rule is one error that names model, operator, domain, opset and node', () => {
  const c: GradientCase = {
    name: 'Cos after Exp',
    shapes: [[3]],
    build: (b) => b.emit('Exp', [b.emit('Cos', ['x0'], {}, 'angle')], {}, 'y'),
  };
  expect(() => derive(c)).toThrow(MissingRuleError);
  expect(() => derive(c)).toThrow(/case\.onnx.*Cos \(domain ai\.onnx, opset 20\).*"angle"/);
});

test('an operator without a rule is harmless beside the path from parameters to the output', () => {
  const c: GradientCase = {
    name: 'Cos of a constant',
    shapes: [[3]],
    build: (b) => b.emit('Mul', ['x0', b.emit('Cos', [b.float(0.5)])], {}, 'y'),
  };
  return expectGradients(c, 'static');
});

test('forms of an operator that its rule does not cover are named', () => {
  const strided: GradientCase = {
    name: 'strided',
    shapes: [[4]],
    build: (b) => b.emit('Slice', ['x0', b.ints([0]), b.ints([4]), b.ints([0]), b.ints([2])], {}, 'y'),
  };
  expect(() => derive(strided)).toThrow(ModelError);
  expect(() => derive(strided)).toThrow(/"y" \(Slice\): its steps are not 1/);
  expect(() => derive({ ...op('MatMul', [[3], [3, 2]]) })).toThrow(/rank 1/);
});

test('a value used twice collects both gradients, an unused parameter gets zeros', () =>
  expectGradients(
    {
      name: 'x0 x0 + exp x0, x1 unused',
      shapes: [[3], [2]],
      build: (b) => {
        b.emit('Add', [b.emit('Mul', ['x0', 'x0']), b.emit('Exp', ['x0'])], {}, 'y');
      },
    },
    'static',
  ));

/** LayerNorm and attention as PyTorch's exporter decomposes them: from primitive operators. */
test('a decomposed layer norm and causal attention', () =>
  expectGradients(
    {
      name: 'decomposed block',
      shapes: [[2, 3, 4], [4, 12], [12], [4], [4]],
      build: (b) => {
        const centred = b.emit('Sub', ['x0', b.emit('ReduceMean', ['x0', b.ints([-1])])]);
        const squares = b.emit('Pow', [centred, b.float(2)]);
        const variance = b.emit('ReduceMean', [squares, b.ints([-1])]);
        const deviation = b.emit('Sqrt', [b.emit('Add', [variance, b.float(1e-5)])]);
        const normal = b.emit('Mul', [b.emit('Div', [centred, deviation]), 'x3']);
        const y = b.emit('Add', [normal, 'x4']);
        const mixed = b.emit('Add', [b.emit('MatMul', [y, 'x1']), 'x2']);
        const parts = b.emitMany('Split', [mixed, b.ints([4, 4, 4])], { axis: 2 }, 3);
        const shape = b.emit('Shape', ['x0']);
        const dim = (axis: number) =>
          b.emit('Unsqueeze', [b.emit('Gather', [shape, b.int(axis)]), b.ints([0])]);
        const target = b.emit('Concat', [dim(0), dim(1), b.ints([2, 2])], { axis: 0 });
        const [q, k, v] = parts.map((part, index) =>
          b.emit('Transpose', [b.emit('Reshape', [part, target])], {
            perm: index === 1 ? [0, 2, 3, 1] : [0, 2, 1, 3],
          }),
        );
        const scores = b.emit('Div', [b.emit('MatMul', [q!, k!]), b.float(Math.SQRT2)]);
        const ones = b.emit(
          'ConstantOfShape',
          [b.emit('Concat', [dim(1), dim(1)], { axis: 0 })],
          constant(floatTensor([1], [1])),
        );
        const lower = b.emit('Trilu', [ones, b.emit('Constant', [], constant(int64Tensor([0], [])))], {
          upper: 0,
        });
        const visible = b.emit('Cast', [lower], { to: 9 });
        const masked = b.emit('Where', [visible, scores, b.float(-1e9)]);
        const heads = b.emit('MatMul', [b.emit('Softmax', [masked], { axis: -1 }), v!]);
        const back = b.emit('Transpose', [heads], { perm: [0, 2, 1, 3] });
        b.emit('Reshape', [back, b.ints([0, 0, 4])], {}, 'y');
      },
    },
    'symbolic',
  ));
