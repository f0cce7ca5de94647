import { describe, expect, test } from 'vitest';
import { createCpuKernels } from '../kernels/cpu/index.ts';
import { Rng } from '../kernels/rng.ts';
import { buildTransformer, initialWeights, transformerGraph } from './graph/buildTransformer.ts';
import { type Attribute, floatTensor, type Graph, type GraphNode, int64Tensor } from './graph/ir.ts';
import { writeModel } from './graph/onnxFile.ts';
import { ModelError } from './modelError.ts';
import type { ModelRuntime } from './modelRuntime.ts';
import { OnnxPolicy } from './onnxPolicy.ts';

const SHAPE = { vocabulary: 7, width: 8, layers: 1, heads: 2, context: 5 };
const kernels = createCpuKernels();

/** Stands in for the engine, so that a load ends where the engine's work would begin. */
const REACHED = 'the engine is reached';
const runtime: ModelRuntime = {
  provider: 'wasm',
  description: 'stand-in',
  createSession: () => Promise.reject(new Error(REACHED)),
};

const failureOf = (bytes: Uint8Array): Promise<unknown> =>
  OnnxPolicy.load({ name: 'm.onnx', bytes, runtime, kernels }).catch((error: unknown) => error);

const graph = () => transformerGraph(SHAPE, initialWeights(SHAPE, 3, 0));

/** The graph with its first node of kind `op` changed. */
function edited(op: string, change: (node: GraphNode) => Partial<GraphNode>): Graph {
  const base = graph();
  const index = base.nodes.findIndex((node) => node.op === op);
  const nodes = base.nodes.map((node, at) => (at === index ? { ...node, ...change(node) } : node));
  return { ...base, nodes };
}

const int = (name: string, value: number) => new Map<string, Attribute>([[name, { kind: 'int', value }]]);

/** The graph with the constant that is input `input` of its first `op` replaced by int64 ones of `value`. */
function withConstant(op: string, input: number, value: number): Graph {
  const base = graph();
  const name = base.nodes.find((node) => node.op === op)!.inputs[input]!;
  const length = base.initializers.get(name)!.dims[0]!;
  const constant = int64Tensor(new Array<number>(length).fill(value), [length]);
  return { ...base, initializers: new Map([...base.initializers, [name, constant]]) };
}

function withWeight(values: readonly number[], dims: readonly number[]): Graph {
  const base = graph();
  return { ...base, initializers: new Map([...base.initializers, ['head', floatTensor(values, dims)]]) };
}

test('an intact model reaches the engine', async () => {
  expect(String(await failureOf(writeModel(graph())))).toContain(REACHED);
});

describe('malformed graphs are refused by node and value', () => {
  test.each<[string, Graph, RegExp]>([
    [
      'an axis of 2^31 in Gather',
      edited('Gather', () => ({ attributes: int('axis', 2 ** 31) })),
      /node "Gather_\d+" \(Gather\): axis 2147483648 does not exist in a tensor of rank 2/,
    ],
    [
      'an axis of -2e9 in LayerNormalization',
      edited('LayerNormalization', () => ({ attributes: int('axis', -2e9) })),
      /\(LayerNormalization\): axis -2000000000 does not exist/,
    ],
    ['axes of 2^31 in Slice', withConstant('Slice', 3, 2 ** 31), /\(Slice\): axis 2147483648 does not exist/],
    [
      'starts of 2^31 in Slice, which leave the next one without ends',
      withConstant('Slice', 1, 2 ** 31),
      /\(Slice\): it slices axes \[0\] from \[\d+\] to \[\]/,
    ],
    [
      'a shape of 2^31',
      withConstant('Reshape', 1, 2 ** 31),
      /\(\w+\): a result \[2147483648.*more than 268435456/,
    ],
    [
      'a permutation that is none',
      edited('Transpose', () => ({ attributes: new Map([['perm', { kind: 'ints', value: [0, 0, 9] }]]) })),
      /\(Transpose\) has perm \[0,0,9\]; it holds 0 to 2/,
    ],
    ['a missing operand', edited('Add', ({ inputs }) => ({ inputs: inputs.slice(0, 1) })), /\(Add\) has the/],
    ['no output', edited('Add', () => ({ outputs: [] })), /reads "Add_\d+", which nothing before it defines/],
    ['a flag of 7', edited('Gemm', () => ({ attributes: int('transA', 7) })), /\(Gemm\) has transA 7/],
    [
      'two nodes that write one value',
      edited('Gather', () => ({ outputs: [graph().nodes[0]!.outputs[0]!] })),
      /\(\w+\) defines the value "\w+" a second time/,
    ],
    [
      'a node that reads its own result',
      edited('Softmax', ({ outputs }) => ({ inputs: [outputs[0]!] })),
      /\(Softmax\) reads "Softmax_\d+", which nothing before it defines/,
    ],
    ['an empty weight', withWeight([], [0, 7]), /weight "head" has dimensions \[0,7\]/],
    [
      'a weight that is no number',
      withWeight(
        Array.from({ length: 56 }, (_, i) => (i === 9 ? Number.NaN : 1)),
        [8, 7],
      ),
      /weight "head" is NaN at 9/,
    ],
  ])('%s', async (_, given, message) => {
    const failure = await failureOf(writeModel(given));
    expect(failure).toBeInstanceOf(ModelError);
    expect(String(failure)).toMatch(message);
  });
});

test('sizes that double from node to node cost no memory', async () => {
  const base = graph();
  const doubling = (op: string, inputs: (last: string) => string[], attributes: GraphNode['attributes']) => {
    const first = base.nodes.find((node) => node.op === 'Shape')!.outputs[0]!;
    return Array.from({ length: 40 }, (_, index): GraphNode => {
      const output = `${op}${index}`;
      const last = index === 0 ? first : `${op}${index - 1}`;
      return { op, domain: '', name: output, inputs: inputs(last), outputs: [output], attributes };
    });
  };
  for (const [op, attributes] of [
    ['Concat', int('axis', 0)],
    ['Mul', new Map()],
    ['Gather', new Map()],
  ] as const) {
    const extra = doubling(op, (last) => [last, last], attributes);
    const [shape, ...rest] = base.nodes;
    const tail = rest.at(-1)!;
    const sum = { ...tail, op: 'Where', inputs: [`${op}39`, tail.inputs[0]!, tail.inputs[0]!], attributes };
    const failure = await failureOf(
      writeModel({ ...base, nodes: [shape!, ...extra, ...rest.slice(0, -1), sum] }),
    );
    expect(failure, op).toBeInstanceOf(ModelError);
  }
});

const INTEGERS = [-(2 ** 31), -9, -1, 0, 1, 2, 9, 2 ** 31, Number.MAX_SAFE_INTEGER];

/** `bytes` with one to three bits flipped, half of the time among the graph's structure, or cut short. */
function damaged(bytes: Uint8Array, rng: Rng): Uint8Array {
  if (rng.integer(8) === 0) return bytes.slice(0, rng.integer(bytes.length));
  const copy = bytes.slice();
  const reach = rng.integer(2) === 0 ? Math.min(6000, bytes.length) : bytes.length;
  for (let flips = 1 + rng.integer(3); flips > 0; flips--) copy[rng.integer(reach)]! ^= 1 << rng.integer(8);
  return copy;
}

/** A random node of `base` with other inputs, outputs, integers or another operator, or a constant with other numbers. */
function rewired(base: Graph, rng: Rng): Graph {
  const pick = <T>(values: readonly T[]): T => values[rng.integer(values.length)]!;
  const donor = pick(base.nodes);
  const extreme = (attribute: Attribute): Attribute => {
    if (attribute.kind === 'int') return { kind: 'int', value: pick(INTEGERS) };
    return attribute.kind === 'ints'
      ? { kind: 'ints', value: attribute.value.map(() => pick(INTEGERS)) }
      : attribute;
  };
  const edits: readonly ((node: GraphNode) => Partial<GraphNode>)[] = [
    ({ inputs }) => ({ inputs: inputs.slice(1) }),
    ({ inputs }) => ({ inputs: inputs.map((name) => (rng.integer(2) === 0 ? '' : name)) }),
    ({ inputs }) => ({ inputs: [...inputs, ...donor.inputs] }),
    () => ({ inputs: donor.inputs }),
    () => ({ outputs: donor.outputs }),
    () => ({ outputs: [] }),
    () => ({ op: donor.op }),
    () => ({ attributes: donor.attributes }),
    ({ attributes }) => ({ attributes: new Map([...attributes].map(([key, a]) => [key, extreme(a)])) }),
    () => ({ attributes: new Map([...int('axis', pick(INTEGERS)), ...int('to', pick(INTEGERS))]) }),
  ];
  if (rng.integer(4) === 0) {
    const [name, { dims }] = pick([...base.initializers].filter(([, value]) => value.type === 'int64'));
    const length = dims.reduce((product, dim) => product * dim, 1);
    const constant = int64Tensor(
      Array.from({ length }, () => pick(INTEGERS)),
      dims,
    );
    return { ...base, initializers: new Map([...base.initializers, [name, constant]]) };
  }
  const target = pick(base.nodes);
  const edit = pick(edits);
  return {
    ...base,
    nodes: base.nodes.map((node) => (node === target ? { ...node, ...edit(node) } : node)),
  };
}

describe('whatever is done to a model, the answer is a ModelError', () => {
  const bytes = buildTransformer({ ...SHAPE, seed: 1 });

  test('300 damaged files', async () => {
    const rng = Rng.of(17, 'init', 0);
    for (let trial = 0; trial < 300; trial++) {
      expect(await failureOf(damaged(bytes, rng)), `trial ${trial}`).toBeInstanceOf(ModelError);
    }
  });

  test('500 rewired graphs, with up to three edits each, and none through an unforeseen error', async () => {
    const rng = Rng.of(17, 'init', 1);
    const base = graph();
    for (let trial = 0; trial < 500; trial++) {
      let changed = base;
      for (let edits = 1 + rng.integer(3); edits > 0; edits--) changed = rewired(changed, rng);
      const failure = await failureOf(writeModel(changed));
      expect(failure, `trial ${trial}`).toBeInstanceOf(ModelError);
      expect(String(failure), `trial ${trial}`).not.toMatch(/undefined|Cannot|is not|Invalid array/);
    }
  });
});
