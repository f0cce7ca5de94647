/** The backends that every kernel test runs on. A GPU lane without an adapter fails; it is never skipped. */
import { afterAll, beforeAll, expect } from 'vitest';
import { createNodeGpuDevice, loadShaders, type NodeGpu } from '../../src/cli/nodeGpu.ts';
import { createCpuKernels } from '../../src/kernels/cpu/index.ts';
import type { Kernels, Tensor } from '../../src/kernels/kernels.ts';
import { Rng } from '../../src/kernels/rng.ts';
import type { GpuOptions } from '../../src/kernels/webgpu/gpu.ts';
import { createWebGpuKernels, type WebGpuKernels } from '../../src/kernels/webgpu/index.ts';

export { createNodeGpuDevice, loadShaders };

export interface Lane {
  readonly name: string;
  /** Closeness that tests ask of this lane: |x - e| <= atol + rtol |e|. */
  readonly rtol: number;
  readonly atol: number;
  /** Most rows that a sampling test draws: a workgroup a row is slow on a software adapter. */
  readonly draws: number;
  open(): Promise<{ kernels: Kernels; close(): void }>;
}

/** Dawn's device for this test file: opened once, shared by its lanes. */
let nodeGpu: Promise<NodeGpu> | undefined;

export function sharedDevice(): Promise<NodeGpu> {
  nodeGpu ??= createNodeGpuDevice();
  return nodeGpu;
}

/** Kernels on the file's shared device. */
export async function openWebGpu(options: GpuOptions = {}): Promise<WebGpuKernels> {
  const { device, description } = await sharedDevice();
  return createWebGpuKernels({ device, description, shaders: loadShaders(), ...options });
}

function gpuLane(reduction: 'thread' | 'workgroup'): Lane {
  return {
    name: `webgpu, one ${reduction} a row`,
    rtol: 1e-4,
    atol: 2e-6,
    draws: reduction === 'thread' ? 6000 : 300,
    async open() {
      const kernels = await openWebGpu({ reduction });
      return { kernels, close: () => kernels.dispose() };
    },
  };
}

const cpuLane: Lane = {
  name: 'cpu',
  rtol: 1e-10,
  atol: 1e-13,
  draws: 6000,
  async open() {
    const kernels = createCpuKernels();
    return { kernels, close: () => kernels.dispose() };
  },
};

/** cpu, and webgpu in both reduction strategies. */
export const lanes: readonly Lane[] = [cpuLane, gpuLane('thread'), gpuLane('workgroup')];

/** One lane a backend, for operations that do not reduce rows. */
export const backends: readonly Lane[] = lanes.slice(0, 2);

/** Opens the lane's kernels before the tests of the current `describe` and closes them after. */
export function useKernels(lane: Lane): () => Kernels {
  let opened: Awaited<ReturnType<Lane['open']>> | undefined;
  beforeAll(async () => {
    opened = await lane.open();
  });
  afterAll(() => opened?.close());
  return () => {
    if (!opened) throw new Error(`lane ${lane.name} is not open`);
    return opened.kernels;
  };
}

/** Element by element within the lane's closeness; infinities by sign and magnitude of at least 1e30. */
export function expectClose(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  { rtol, atol }: Pick<Lane, 'rtol' | 'atol'>,
): void {
  expect(actual.length).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) {
    const [x, e] = [actual[i]!, expected[i]!];
    const close = Number.isFinite(e)
      ? Math.abs(x - e) <= atol + rtol * Math.abs(e)
      : Math.sign(x) === Math.sign(e) && Math.abs(x) >= 1e30;
    if (!close) expect.fail(`element ${i} is ${x}, expected ${e} within ${atol} + ${rtol} |e|`);
  }
}

/** A float tensor from nested rows. */
export function matrix(kernels: Kernels, rows: readonly (readonly number[])[], label = 'matrix'): Tensor {
  return kernels.tensor(Float64Array.from(rows.flat()), [rows.length, rows[0]?.length ?? 1], label);
}

export function floats(kernels: Kernels, values: ArrayLike<number>, label = 'floats'): Tensor {
  return kernels.tensor(Float64Array.from(values), [values.length], label);
}

export function ints(kernels: Kernels, values: ArrayLike<number>, label = 'ints'): Tensor {
  return kernels.tensor(Int32Array.from(values), [values.length], label);
}

/** Normal numbers, rounded to float32 so that every lane starts from the same. */
export function normals(seed: number, count: number, scale = 1): Float64Array {
  const rng = Rng.of(seed, 'init');
  return Float64Array.from({ length: count }, () => Math.fround(scale * rng.normal()));
}

/** Central differences of `f` at `x`, coordinate by coordinate. */
export async function numericalGradient(
  f: (x: Float64Array) => Promise<number>,
  x: Float64Array,
  step = 1e-5,
): Promise<Float64Array> {
  const gradient = new Float64Array(x.length);
  for (let i = 0; i < x.length; i++) {
    const above = x.slice();
    const below = x.slice();
    above[i] = x[i]! + step;
    below[i] = x[i]! - step;
    gradient[i] = ((await f(above)) - (await f(below))) / (2 * step);
  }
  return gradient;
}

/** Closeness of an analytic gradient to central differences of the float64 function. */
export function gradientTolerance(lane: Lane): { rtol: number; atol: number } {
  return { rtol: Math.max(lane.rtol, 1e-6), atol: Math.max(lane.atol, 1e-8) };
}
