import { describe, expect, test } from 'vitest';
import { createNodeRuntime } from '../cli/nodeOrt.ts';
import { createCpuKernels } from '../kernels/cpu/index.ts';
import { Rng } from '../kernels/rng.ts';
import {
  buildTransformer,
  initialWeights,
  parameterShapes,
  transformerGraph,
} from './graph/buildTransformer.ts';
import { floatTensor, type Graph, type GraphNode, sizeOf, type ValueInfo } from './graph/ir.ts';
import { readModel, writeModel } from './graph/onnxFile.ts';
import { MissingRuleError, ModelError } from './modelError.ts';
import { OnnxPolicy } from './onnxPolicy.ts';
import type { Observations } from './policy.ts';

const kernels = createCpuKernels();
const SHAPE = { vocabulary: 7, width: 8, layers: 1, heads: 2, context: 5 };

async function load(bytes: Uint8Array, vocabulary?: number): Promise<OnnxPolicy> {
  const runtime = await createNodeRuntime();
  return OnnxPolicy.load({ name: 'm.onnx', bytes, runtime, kernels, ...(vocabulary && { vocabulary }) });
}

const loadGraph = (graph: Graph) => load(writeModel(graph));
const graph = (shape = SHAPE) => transformerGraph(shape, initialWeights(shape, 3, 0));

function observe(batch: number, steps: number, vocabulary: number): Observations {
  return { batch, steps, data: Int32Array.from({ length: batch * steps }, (_, i) => (i * i) % vocabulary) };
}

async function logitsOf(policy: OnnxPolicy, observations: Observations): Promise<Float64Array> {
  const logits = await policy.forward(observations);
  const [values] = await kernels.read(logits);
  kernels.release(logits);
  return values!;
}

async function gradientsOf(
  policy: OnnxPolicy,
  observations: Observations,
  weights: Float64Array,
): Promise<Float64Array[]> {
  const rows = observations.batch * observations.steps;
  const dlogits = kernels.tensor(weights, [rows, policy.nActions], 'dlogits');
  const gradients = await policy.backward(observations, dlogits);
  const values = await kernels.read(...gradients);
  kernels.release(dlogits, ...gradients);
  return values;
}

const dot = (a: Float64Array, b: Float64Array) => a.reduce((sum, value, index) => sum + value * b[index]!, 0);
const wave = (length: number) => Float64Array.from({ length }, (_, index) => Math.sin(index + 1));

test('one entry of every parameter of a three-layer model: finite differences', async () => {
  const shape = { ...SHAPE, layers: 3 };
  // Weights large enough that every path carries a gradient that float32 differences resolve.
  const rng = Rng.of(5, 'init', 0);
  const weights = new Map(
    [...parameterShapes(shape)].map(([name, dims]) => {
      const centre = name.endsWith('_g') ? 1 : 0;
      const draws = Array.from({ length: sizeOf(dims) }, () => centre + 0.2 * rng.normal());
      return [name, floatTensor(draws, dims)];
    }),
  );
  const policy = await loadGraph(transformerGraph(shape, weights));
  expect(policy.parameters).toHaveLength(5 + 16 * 3);
  const observations = observe(2, 4, 7);
  const cotangent = wave(2 * 4 * 7);
  const gradients = await gradientsOf(policy, observations, cotangent);
  const h = 2 ** -8;
  for (const [index, { name, tensor }] of policy.parameters.entries()) {
    const [original] = await kernels.read(tensor);
    const loss = async (shift: number) => {
      const moved = Float32Array.from(original!, (value, i) => (i === 1 ? value + shift : value));
      const replacement = kernels.tensor(moved, tensor.shape, name);
      kernels.assign(tensor, replacement);
      kernels.release(replacement);
      return dot(await logitsOf(policy, observations), cotangent);
    };
    const near = (await loss(h)) - (await loss(-h));
    const far = (await loss(2 * h)) - (await loss(-2 * h));
    await loss(0);
    const expected = (8 * near - far) / (12 * h);
    const error = Math.abs(gradients[index]![1]! - expected) / Math.max(1, Math.abs(expected));
    expect(error, `${name}: ${gradients[index]![1]} against ${expected}`).toBeLessThan(2e-3);
  }
  await policy.dispose();
});

test('the gradient is linear in dlogits, and tokens of different rows add up', async () => {
  const policy = await loadGraph(graph());
  const observations = { batch: 2, steps: 3, data: Int32Array.of(1, 2, 1, 4, 1, 1) };
  const both = wave(2 * 3 * 7);
  const firstRow = both.map((value, index) => (index < 21 ? value : 0));
  const secondRow = both.map((value, index) => (index < 21 ? 0 : value));
  const [sum, first, second] = await Promise.all(
    [both, firstRow, secondRow].map((weights) => gradientsOf(policy, observations, weights)),
  );
  sum!.forEach((gradient, index) => {
    gradient.forEach((value, element) => {
      expect(first![index]![element]! + second![index]![element]!).toBeCloseTo(value, 5);
    });
  });
  const tokenGradient = sum![policy.parameters.findIndex(({ name }) => name === 'tok_emb')]!;
  const unused = [0, 3, 5, 6].flatMap((token) => [...tokenGradient.slice(token * 8, token * 8 + 8)]);
  expect(unused.every((value) => value === 0)).toBe(true);
  await policy.dispose();
});

test('logits at a position do not depend on later tokens', async () => {
  const policy = await loadGraph(graph());
  const short = await logitsOf(policy, { batch: 1, steps: 2, data: Int32Array.of(3, 4) });
  const padded = await logitsOf(policy, { batch: 1, steps: 5, data: Int32Array.of(3, 4, 6, 0, 2) });
  padded.slice(0, 14).forEach((value, index) => {
    expect(value).toBeCloseTo(short[index]!, 6);
  });
  await policy.dispose();
});

test('int64 tokens, a mask and positions, as exporters write them, are filled in', async () => {
  const weights = floatTensor(
    Array.from({ length: 12 }, (_, i) => i),
    [4, 3],
  );
  const node = (
    op: string,
    inputs: string[],
    output: string,
    attributes: GraphNode['attributes'] = new Map(),
  ) => ({
    op,
    domain: '',
    name: output,
    inputs,
    outputs: [output],
    attributes,
  });
  const tokens = (name: string): ValueInfo => ({ name, type: 'int64', shape: ['batch', 'sequence'] });
  const toFloat = new Map([['to', { kind: 'int', value: 1 } as const]]);
  const policy = await loadGraph({
    name: 'table',
    opsets: new Map([['', 14]]),
    inputs: ['input_ids', 'attention_mask', 'position_ids'].map(tokens),
    outputs: [{ name: 'logits', type: 'float32', shape: ['batch', 'sequence', 3] }],
    initializers: new Map([
      ['table', weights],
      ['axes', readAxes()],
    ]),
    nodes: [
      node('Gather', ['table', 'input_ids'], 'rows'),
      node('Add', ['attention_mask', 'position_ids'], 'count'),
      node('Cast', ['count'], 'scale', toFloat),
      node('Unsqueeze', ['scale', 'axes'], 'column'),
      node('Mul', ['rows', 'column'], 'logits'),
    ],
  });
  const observations = { batch: 1, steps: 2, data: Int32Array.of(1, 1) };
  expect([...(await logitsOf(policy, observations))]).toEqual([3, 4, 5, 6, 8, 10]);
  const [gradient] = await gradientsOf(policy, observations, Float64Array.of(1, 0, 0, 1, 10, 0));
  expect([...gradient!]).toEqual([0, 0, 0, 3, 20, 0, 0, 0, 0, 0, 0, 0]);
  await policy.dispose();
});

function readAxes() {
  return { type: 'int64', dims: [1], bytes: new Uint8Array(BigInt64Array.of(2n).buffer) } as const;
}

test('observations that do not fit are named', async () => {
  const policy = await loadGraph(graph());
  await expect(policy.forward({ batch: 2, steps: 2, data: new Int32Array(3) })).rejects.toThrow(
    /3 tokens, expected 2 x 2/,
  );
  await expect(policy.forward({ batch: 1, steps: 1, data: Int32Array.of(7) })).rejects.toThrow(
    /token 7, expected 0 to 6/,
  );
  await expect(policy.forward(observe(1, 6, 7))).rejects.toThrow(/m\.onnx \(forward\)/);
  const dlogits = kernels.tensor(new Float64Array(7), [1, 7], 'dlogits');
  await expect(policy.backward(observe(1, 2, 7), dlogits)).rejects.toThrow(
    /dlogits are \[1,7\], expected \[2, 7\]/,
  );
  await policy.dispose();
});

test('sessions can be released and started again, also the last one', async () => {
  const first = await loadGraph(graph());
  const before = await logitsOf(first, observe(1, 3, 7));
  await first.dispose();
  const second = await loadGraph(graph());
  expect(await logitsOf(second, observe(1, 3, 7))).toEqual(before);
  await second.dispose();
});

describe('what is refused', () => {
  const bytes = buildTransformer({ ...SHAPE, seed: 1 });
  const withOutputs = (outputs: readonly ValueInfo[]): Graph => ({ ...graph(), outputs });
  const renamed = (from: string, to: string): Graph => ({
    ...graph(),
    inputs: graph().inputs.map((input) => (input.name === from ? { ...input, name: to } : input)),
    nodes: graph().nodes.map((node) => ({
      ...node,
      inputs: node.inputs.map((name) => (name === from ? to : name)),
    })),
  });
  const logits = (shape: ValueInfo['shape']) => withOutputs([{ name: 'logits', type: 'float32', shape }]);
  const withNode = (op: string, domain: string): Graph => ({
    ...graph(),
    nodes: graph().nodes.map((node) => (node.op === 'Gelu' ? { ...node, op, domain, name: 'act' } : node)),
  });
  const claimsGigabytes = (): Graph => {
    const weights = initialWeights(SHAPE, 1, 0);
    const table = weights.get('tok_emb')!;
    return {
      ...graph(),
      initializers: new Map([...graph().initializers, ['tok_emb', { ...table, dims: [1e9, 1e9] }]]),
    };
  };

  test.each<[string, Uint8Array, RegExp]>([
    ['nothing', new Uint8Array(), /holds no graph.*complete/],
    ['text', new TextEncoder().encode('<!doctype html>'), /not a whole ONNX model|holds no graph/],
    ['a truncated file', bytes.slice(0, bytes.length / 2), /not a whole ONNX model/],
    [
      'a length of gigabytes',
      Uint8Array.of(0x3a, 0xff, 0xff, 0xff, 0xff, 0x07, 1),
      /7 bytes are not a whole ONNX model/,
    ],
    [
      'dimensions of gigabytes',
      writeModel(claimsGigabytes()),
      /"?tok_emb"? has dimensions \[1000000000,1000000000\]/,
    ],
    [
      'no weights',
      writeModel({
        ...graph(),
        initializers: new Map([...graph().initializers].filter(([, v]) => v.type !== 'float32')),
      }),
      /no float32 weights/,
    ],
    ['other token names', writeModel(renamed('input_ids', 'tokens')), /"tokens".*must be named "input_ids"/],
    [
      'no logits',
      writeModel(withOutputs([{ name: 'present.0.key', type: 'float32', shape: undefined }])),
      /outputs are "present.0.key"; one must be named "logits"/,
    ],
    ['logits of rank 2', writeModel(logits(['n', 7])), /logits are float32 \[n, 7\].*\[batch, sequence, V\]/],
    ['logits without V', writeModel(logits(['b', 't', 'v'])), /with V a number/],
    [
      'more logits than embeddings',
      writeModel(logits(['b', 't', 9])),
      /"tok_emb" has 7 rows but its logits 9/,
    ],
    ['an old opset', writeModel({ ...graph(), opsets: new Map([['', 9]]) }), /opset 9.*from 13 to 23/],
    [
      'half precision',
      writeModel({
        ...graph(),
        initializers: new Map([
          ...graph().initializers,
          ['head', { type: 'float16', dims: [8, 7], bytes: new Uint8Array(112) }],
        ]),
      }),
      /"head" is float16.*float32/,
    ],
    [
      'an operator without a rule',
      writeModel(withNode('Celu', '')),
      /Celu \(domain ai\.onnx, opset 20\).*"act"/,
    ],
    [
      'an operator of another domain',
      writeModel({
        ...withNode('FastGelu', 'com.microsoft'),
        opsets: new Map([
          ['', 20],
          ['com.microsoft', 1],
        ]),
      }),
      /FastGelu \(domain com\.microsoft, opset 1\)/,
    ],
  ])('%s', async (_, given, message) => {
    const failure = await load(given).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ModelError);
    expect(String(failure)).toMatch(message);
    expect(String(failure)).toContain('model m.onnx');
  });

  test('a missing rule is an error of its own kind', async () => {
    const failure = await loadGraph(withNode('Celu', '')).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(MissingRuleError);
    expect(failure).toMatchObject({ operator: 'Celu', node: 'act' });
  });

  test("a vocabulary that is not the task's", async () => {
    await expect(load(bytes, 14)).rejects.toThrow(/vocabulary has 7 tokens; the task needs exactly 14/);
  });

  test('a graph that the engine refuses', async () => {
    // Gelu joined ONNX in opset 20.
    const broken = { ...graph(), opsets: new Map([['', 14]]) };
    const failure = await loadGraph(broken).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ModelError);
    expect(String(failure)).toMatch(/ONNX Runtime Web.* refuses it/);
  });

  test('every truncation is refused', () => {
    for (let length = 0; length < bytes.length; length += 97) {
      expect(() => readModel(bytes.slice(0, length), 'm.onnx'), `${length} bytes`).toThrow(ModelError);
    }
  });
});
