/** Compares derived gradients with finite differences of the forward graph, both run by the engine. */

import { expect } from 'vitest';
import { createNodeRuntime } from '../../src/cli/nodeOrt.ts';
import { Rng } from '../../src/kernels/rng.ts';
import { GraphBuilder } from '../../src/policies/graph/builder.ts';
import { type Dim, type Graph, sizeOf } from '../../src/policies/graph/ir.ts';
import { writeModel } from '../../src/policies/graph/onnxFile.ts';
import { deriveVjp, gradientName } from '../../src/policies/graph/vjp.ts';
import type { HostTensor, ModelOutput, ModelSession, ModelTensor } from '../../src/policies/modelRuntime.ts';

/** How much of the inputs' shapes the graph declares: decides between static and run-time shape arithmetic. */
export type Declared = 'static' | 'symbolic' | 'unknown';

export interface GradientCase {
  readonly name: string;
  /** Shapes of the differentiated float inputs `x0`, `x1`, ... */
  readonly shapes: readonly (readonly number[])[];
  /** Emits nodes that compute the value `y`. */
  readonly build: (b: GraphBuilder) => void;
  /** Maps standard normal draws into the operator's domain. */
  readonly domain?: (normal: number) => number;
  /** Integer inputs by name: part of the graph, not differentiated. */
  readonly integers?: Readonly<Record<string, HostTensor>>;
  readonly opset?: number;
}

/** A power of two, so that x + h is exact; truncation of the fourth-order formula is then below rounding. */
const STEP = 2 ** -6;
const TOLERANCE = 5e-4;

/** The graph of `c`, its inputs declared as `declared` says. */
export function graphOf(c: GradientCase, declared: Declared): Graph {
  const builder = new GraphBuilder('');
  c.build(builder);
  const declare = (dims: readonly number[], name: string): readonly Dim[] | undefined => {
    if (declared === 'unknown') return undefined;
    return declared === 'static' ? dims : dims.map((_, axis) => `${name}.${axis}`);
  };
  const integers = Object.entries(c.integers ?? {});
  return {
    name: 'case',
    opsets: new Map([['', c.opset ?? 20]]),
    nodes: builder.nodes,
    initializers: builder.initializers,
    inputs: [
      ...c.shapes.map((dims, index) => ({
        name: `x${index}`,
        type: 'float32' as const,
        shape: declare(dims, `x${index}`),
      })),
      ...integers.map(([name, { data, dims }]) => ({
        name,
        type: data instanceof Int32Array ? ('int32' as const) : ('int64' as const),
        shape: declare(dims, name),
      })),
    ],
    outputs: [{ name: 'y', type: 'float32', shape: undefined }],
  };
}

/** Fails unless every partial derivative of sum(y * w), w random, agrees with a central difference. */
export async function expectGradients(c: GradientCase, declared: Declared): Promise<void> {
  const graph = graphOf(c, declared);
  const names = c.shapes.map((_, index) => `x${index}`);
  const vjp = deriveVjp(graph, { model: c.name, parameters: names, output: 'y', cotangent: 'dy' });
  const forward = await session(graph, ['y']);
  const backward = await session(vjp, names.map(gradientName));
  const inputs = c.shapes.map((dims, index) => ({ data: draw(dims, index, c.domain), dims }));
  const feeds = (): Record<string, ModelTensor> => ({
    ...Object.fromEntries(inputs.map((x, index) => [names[index]!, { location: 'host', ...x } as const])),
    ...c.integers,
  });
  const y = onHost(await forward.run(feeds()), 'y');
  const weights = draw(y.dims, names.length);
  const loss = async () => {
    const { data } = onHost(await forward.run(feeds()), 'y');
    return data.reduce((sum, value, index) => sum + value * weights[index]!, 0);
  };
  const dy = { location: 'host', data: weights, dims: y.dims } as const;
  const gradients = await backward.run({ ...feeds(), dy });
  for (const [index, { data, dims }] of inputs.entries()) {
    const gradient = onHost(gradients, gradientName(names[index]!));
    expect(gradient.dims, `${c.name}: shape of the gradient of x${index}`).toEqual(dims);
    const expected = await differences(data, loss);
    expected.forEach((value, element) => {
      const error = Math.abs(gradient.data[element]! - value) / Math.max(1, Math.abs(value));
      const what = `${c.name}, ${declared}: d/dx${index}[${element}] is ${gradient.data[element]}, not ${value}`;
      expect(error, what).toBeLessThan(TOLERANCE);
    });
  }
  await forward.release();
  await backward.release();
}

/** d loss / d data[i] by the fourth-order central difference. */
async function differences(data: Float32Array, loss: () => Promise<number>): Promise<number[]> {
  const result: number[] = [];
  for (let i = 0; i < data.length; i++) {
    const centre = data[i]!;
    const at = async (steps: number) => {
      data[i] = centre + steps * STEP;
      return loss();
    };
    const near = (await at(1)) - (await at(-1));
    const far = (await at(2)) - (await at(-2));
    data[i] = centre;
    result.push((8 * near - far) / (12 * STEP));
  }
  return result;
}

async function session(graph: Graph, outputs: readonly string[]): Promise<ModelSession> {
  const runtime = await createNodeRuntime();
  return runtime.createSession(writeModel(graph), { label: graph.name, outputs, outputLocation: 'host' });
}

function onHost(outputs: Readonly<Record<string, ModelOutput>>, name: string) {
  const output = outputs[name];
  if (output?.location !== 'host') throw new Error(`${name}: expected a host array`);
  return output;
}

/** Reproducible numbers with 8 fractional bits: perturbing them by `STEP` is exact. */
function draw(
  dims: readonly number[],
  stream: number,
  domain: (normal: number) => number = (normal) => normal,
): Float32Array {
  const rng = Rng.of(11, 'init', stream);
  return Float32Array.from({ length: sizeOf(dims) }, () => Math.round(domain(rng.normal()) * 256) / 256);
}
