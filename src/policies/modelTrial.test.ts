import { expect, test } from 'vitest';
import { createNodeRuntime } from '../cli/nodeOrt.ts';
import { createCpuKernels } from '../kernels/cpu/index.ts';
import { initialWeights, transformerGraph } from './graph/buildTransformer.ts';
import { floatTensor, type Graph, type ValueInfo } from './graph/ir.ts';
import { writeModel } from './graph/onnxFile.ts';
import { ModelError } from './modelError.ts';
import { OnnxPolicy } from './onnxPolicy.ts';

const kernels = createCpuKernels();
const SHAPE = { vocabulary: 7, width: 8, layers: 1, heads: 2, context: 5 };
const graph = () => transformerGraph(SHAPE, initialWeights(SHAPE, 3, 0));

async function loadGraph(given: Graph, longest?: number): Promise<OnnxPolicy> {
  const source = { name: 'm.onnx', bytes: writeModel(given), runtime: await createNodeRuntime(), kernels };
  return OnnxPolicy.load({ ...source, ...(longest !== undefined && { longest }) });
}

/** The graph with its logits passed through one more node. */
const withLast = (op: string, inputs: readonly string[], constants: Graph['initializers']): Graph => ({
  ...graph(),
  initializers: new Map([...graph().initializers, ...constants]),
  nodes: [
    ...graph().nodes.map((node) => ({
      ...node,
      outputs: node.outputs.map((name) => (name === 'logits' ? 'raw' : name)),
    })),
    { op, domain: '', name: 'last', inputs, outputs: ['logits'], attributes: new Map() },
  ],
});

test('a model that runs on one length only', async () => {
  const offsets = floatTensor(new Float32Array(14), [1, 2, 7]);
  const fixed = withLast('Add', ['raw', 'offsets'], new Map([['offsets', offsets]]));
  const failure = await loadGraph(fixed).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ModelError);
  expect(String(failure)).toMatch(/a trial run fails \(.*batch of up to 3 tokens/);
});

test('a model whose logits are [sequence, batch, V]', async () => {
  const swapped = withLast('Transpose', ['raw'], new Map());
  const perm = new Map([['perm', { kind: 'ints', value: [1, 0, 2] } as const]]);
  const nodes = swapped.nodes.map((node) => (node.name === 'last' ? { ...node, attributes: perm } : node));
  const outputs: ValueInfo[] = [{ name: 'logits', type: 'float32', shape: ['b', 't', 7] }];
  const failure = await loadGraph({ ...swapped, nodes, outputs }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ModelError);
  expect(String(failure)).toMatch(/"logits" is \[2,1,7\], expected \[1,2,7\]/);
});

test('a model whose logits are not numbers', async () => {
  const zero = new Map([['zero', floatTensor([0], [])]]);
  const quotient = withLast('Mul', ['raw', 'zero'], zero);
  const nodes = [
    ...quotient.nodes.map((node) => (node.name === 'last' ? { ...node, outputs: ['none'] } : node)),
    {
      op: 'Div',
      domain: '',
      name: 'ratio',
      inputs: ['none', 'none'],
      outputs: ['logits'],
      attributes: new Map(),
    },
  ];
  await expect(loadGraph({ ...quotient, nodes })).rejects.toThrow(/on 1 x 2 tokens it gives a logit of NaN/);
});

test('a context that is shorter than the sequences of the task', async () => {
  const policy = await loadGraph(graph(), 5);
  await policy.dispose();
  await expect(loadGraph(graph(), 6)).rejects.toThrow(/a trial run fails .*batch of up to 6 tokens/);
});
