import { expect, test } from 'vitest';
import { buildTransformer, initialWeights, parameterShapes, transformerGraph } from './buildTransformer.ts';
import { floatsOf, type Graph, numbersOf, sizeOf } from './ir.ts';
import { readModel, writeModel } from './onnxFile.ts';

const SHAPE = { vocabulary: 6, width: 8, layers: 2, heads: 2, context: 4 };

test('writing and reading gives the same graph, and the same bytes again', () => {
  const graph = transformerGraph(SHAPE, initialWeights(SHAPE, 1, 0));
  const bytes = writeModel(graph);
  const read = readModel(bytes, 'm');
  expect(read).toEqual(graph);
  expect(writeModel(read)).toEqual(bytes);
});

test('attributes of every kind survive', () => {
  const graph: Graph = {
    name: 'g',
    opsets: new Map([
      ['', 20],
      ['com.microsoft', 1],
    ]),
    inputs: [{ name: 'x', type: 'int64', shape: ['n', 3] }],
    outputs: [{ name: 'y', type: 'bool', shape: undefined }],
    initializers: new Map(),
    nodes: [
      {
        op: 'Op',
        domain: 'com.microsoft',
        name: 'n',
        inputs: ['x', '', 'x'],
        outputs: ['y'],
        attributes: new Map([
          ['a', { kind: 'int', value: -3 }],
          ['b', { kind: 'float', value: 0.5 }],
          ['c', { kind: 'string', value: 'naïve' }],
          ['d', { kind: 'ints', value: [2 ** 40, -1, 0] }],
          ['e', { kind: 'floats', value: [1, 2.5] }],
          ['f', { kind: 'strings', value: ['p', 'q'] }],
          [
            'g',
            {
              kind: 'tensor',
              value: {
                type: 'int64',
                dims: [1],
                bytes: Uint8Array.of(255, 255, 255, 255, 255, 255, 255, 127),
              },
            },
          ],
        ]),
      },
    ],
  };
  const read = readModel(writeModel(graph), 'm');
  expect(read).toEqual(graph);
  const largest = read.nodes[0]!.attributes.get('g');
  expect(largest?.kind === 'tensor' && numbersOf(largest.value)).toEqual([Number.MAX_SAFE_INTEGER]);
});

test('the same seed gives the same bytes; another seed or agent gives other weights', () => {
  const bytes = (seed: number, agent?: number) =>
    buildTransformer({ ...SHAPE, seed, ...(agent !== undefined && { agent }) });
  expect(bytes(7)).toEqual(bytes(7, 0));
  expect(bytes(7)).not.toEqual(bytes(8));
  expect(bytes(7)).not.toEqual(bytes(7, 1));
});

test('parameters of two layers: names, number, and initial values', () => {
  const weights = initialWeights(SHAPE, 7, 0);
  const { vocabulary: v, width: d, context } = SHAPE;
  const perLayer = 4 * (d * d + d) + 8 * d * d + 5 * d + 4 * d;
  const total = [...weights.values()].reduce((sum, { dims }) => sum + sizeOf(dims), 0);
  expect(total).toBe(v * d + context * d + 2 * perLayer + 2 * d + d * v);
  expect([...weights.keys()].slice(0, 3)).toEqual(['tok_emb', 'pos_emb', 'layers.0.ln1_g']);
  expect([...parameterShapes({ ...SHAPE, layers: 1 }).keys()]).toContain('ln1_g');
  expect([...floatsOf(weights.get('layers.1.ln2_g')!)].every((value) => value === 1)).toBe(true);
  expect([...floatsOf(weights.get('layers.1.b1')!)].every((value) => value === 0)).toBe(true);
});

test('shapes that do not fit are named', () => {
  const build = (change: Partial<typeof SHAPE>) => () => buildTransformer({ ...SHAPE, ...change, seed: 1 });
  expect(build({ heads: 3 })).toThrow(/heads: got 3 for width 8, expected a divisor/);
  expect(build({ layers: 0 })).toThrow(/layers: got 0, expected an integer >= 1/);
  const weights = new Map(initialWeights(SHAPE, 1, 0));
  weights.delete('head');
  expect(() => transformerGraph(SHAPE, weights)).toThrow(/head: got \[nothing\], expected \[8,6\]/);
});
