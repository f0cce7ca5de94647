import { afterAll, describe, expect, test } from 'vitest';
import {
  createNodeGpuDevice,
  floats,
  ints,
  loadShaders,
  matrix,
  normals,
  openWebGpu,
  sharedDevice,
} from '../../../test/support/lanes.ts';
import { createCpuKernels } from '../cpu/index.ts';
import type { Kernels, Tensor } from '../kernels.ts';
import { USAGE } from './bufferPool.ts';
import { createWebGpuKernels, GpuTensor, wrapGpuBuffer } from './index.ts';

afterAll(async () => (await sharedDevice()).dispose());

/** The tensors of a result in the order of their names, which both backends share. */
function byName(result: object): Tensor[] {
  const entries: [string, Tensor][] = Object.entries(result);
  return entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, tensor]) => tensor);
}

/** Runs every operation once on sizes that fill no workgroup evenly; returns every output. */
async function everything(
  k: Kernels,
  [batch, steps, width]: readonly [number, number, number],
): Promise<Tensor[]> {
  const rows = batch * steps;
  const logits = (seed: number) => k.tensor(normals(seed, rows * width), [rows, width], `logits ${seed}`);
  const [logitsTar, logitsCur] = [logits(1), logits(2)];
  const actions = ints(
    k,
    Array.from({ length: rows }, (_, n) => n % width),
  );
  const active = ints(
    k,
    Array.from({ length: rows }, (_, n) => (n % 3 === 0 ? 0 : 1)),
  );
  const weight = floats(k, new Float64Array(rows).fill(1 / rows));
  const perStep = (seed: number) => floats(k, normals(seed, rows));
  const perSequence = floats(k, normals(4, batch));
  const params = [logits(5), perStep(6)];
  const grads = [logits(7), perStep(8)];
  const state = { m: params.map((p) => k.copy(p, 'm')), v: grads.map((p) => k.zerosLike(p, 'v')), step: 0 };
  const temperature = 0.9;
  const results = [
    k.logProb({ logits: logitsTar, actions, temperature }),
    k.kl({ logitsTar, logitsCur, temperature, direction: 'tar-cur', gradWeight: weight }),
    k.kl({ logitsTar, logitsCur, temperature, direction: 'cur-tar' }),
    k.clippedObjective({
      batch,
      steps,
      logitsTar,
      logitsCur,
      actions,
      active,
      advantages: perSequence,
      klWeight: weight,
      epsLow: 0.2,
      epsHigh: 0.2,
      beta: 0.1,
      temperature,
    }),
    k.advantages({
      batch,
      steps,
      rewards: perStep(9),
      logpHat: perStep(10),
      logpCur: perStep(11),
      values: floats(k, normals(12, rows + batch)),
      lengths: ints(
        k,
        Array.from({ length: batch }, (_, b) => 1 + (b % steps)),
      ),
      terminated: ints(
        k,
        Array.from({ length: batch }, (_, b) => b % 2),
      ),
      gamma: 0.9,
      lambda: 0.9,
      trace: 'retrace',
    }),
    k.groupNormalise({
      values: perSequence,
      group: ints(
        k,
        Array.from({ length: batch }, (_, b) => b % 2),
      ),
      eps: 1e-8,
      clip: 5,
    }),
    k.sample({ logits: logitsTar, temperature, topP: 0.8, key: [1, 2], firstCounter: 0 }),
  ];
  await k.klQuantile({ values: weight, mask: active, alpha: 0.1, delta: 0.1 });
  const index = ints(
    k,
    Array.from({ length: rows }, (_, n) => n % 3),
  );
  const tables = [
    k.gatherRows(logitsTar, index),
    k.scatterAddRows(logitsTar, index, 3),
    k.clipGradNorm(grads, 0.5),
  ];
  k.adamw(params, grads, state, { lr: 0.1, beta1: 0.9, beta2: 0.99, eps: 1e-8, weightDecay: 0.1 });
  return [...results.flatMap(byName), ...tables, ...params, ...grads, ...state.m];
}

describe('one suite of operations', () => {
  // Fewer than 3 workgroups along x, so that every kernel uses the second axis of its dispatch.
  test.each([
    { reduction: 'thread', sizes: [67, 5, 7] },
    { reduction: 'workgroup', sizes: [5, 3, 131] },
  ] as const)(
    'writes only inside its tensors and agrees with cpu, by $reduction',
    async ({ reduction, sizes }) => {
      const gpu = await openWebGpu({ reduction, guardBytes: 64, maxWorkgroups: 2 });
      const cpu = createCpuKernels();
      const ours = await gpu.read(...(await everything(gpu, sizes)));
      const reference = await cpu.read(...(await everything(cpu, sizes)));
      expect(await gpu.strayWrites()).toEqual([]);
      expect(ours.map((x) => x.length)).toEqual(reference.map((x) => x.length));
      ours.forEach((x, i) => {
        x.forEach((value, n) => {
          const exact = reference[i]![n]!;
          const close = Math.abs(value - exact) <= 2e-5 + 2e-4 * Math.abs(exact);
          if (!close) expect.fail(`output ${i}, element ${n} is ${value}, expected ${exact}`);
        });
      });
      gpu.dispose();
    },
  );

  test('strayWrites notices a write behind a tensor', async () => {
    const gpu = await openWebGpu({ guardBytes: 16 });
    const tensor = gpu.tensor(new Float32Array(3), [3], 'victim');
    const { device } = await sharedDevice();
    device.queue.writeBuffer(tensor.buffer, tensor.bytes, new Float32Array(1));
    expect(await gpu.strayWrites()).toEqual(['victim']);
    gpu.dispose();
  });

  test('a loop allocates no buffer after its first round', async () => {
    const gpu = await openWebGpu();
    const counts: number[] = [];
    for (let round = 0; round < 4; round++) {
      const logits = gpu.tensor(normals(round, 600), [60, 10], 'logits');
      const sampled = gpu.sample({ logits, temperature: 1, topP: 1, key: [3, 4], firstCounter: round });
      const result = gpu.logProb({ logits, actions: sampled.actions, temperature: 1 });
      await gpu.read(result.logProb);
      await gpu.klQuantile({ values: result.entropy, alpha: 0.01, delta: 1 });
      gpu.release(logits, ...Object.values(sampled), ...Object.values(result));
      counts.push(gpu.allocatedBuffers);
    }
    expect(counts.slice(1)).toEqual([counts[0], counts[0], counts[0]]);
    gpu.dispose();
  });

  test('more than 65535 workgroups', async () => {
    const gpu = await openWebGpu();
    const rows = 65_535 * 64 + 100;
    const table = matrix(gpu, [[2], [3]]);
    const index = gpu.tensor(
      Int32Array.from({ length: rows }, (_, n) => n % 2),
      [rows],
      'index',
    );
    const gathered = gpu.gatherRows(table, index);
    const [values] = await gpu.read(gathered);
    expect(values!.every((x, n) => x === 2 + (n % 2))).toBe(true);
    gpu.dispose();
  });

  test('more dispatches than one submission holds', async () => {
    const gpu = await openWebGpu();
    const params = Array.from({ length: 300 }, (_, n) => floats(gpu, [n]));
    const grads = params.map(() => floats(gpu, [0]));
    const state = {
      m: params.map((p) => gpu.zerosLike(p, 'm')),
      v: params.map((p) => gpu.zerosLike(p, 'v')),
      step: 0,
    };
    gpu.adamw(params, grads, state, { lr: 0.5, beta1: 0.9, beta2: 0.9, eps: 1e-8, weightDecay: 1 });
    const values = await gpu.read(...params);
    expect(values.map(([x]) => x)).toEqual(params.map((_, n) => n / 2));
    gpu.dispose();
  });
});

describe('foreign buffers', () => {
  const usage = USAGE.STORAGE | USAGE.COPY_SRC | USAGE.COPY_DST;

  test('wrapGpuBuffer adopts a buffer without owning it, or owning it', async () => {
    const gpu = await openWebGpu();
    const { device } = await sharedDevice();
    const buffer = device.createBuffer({ label: 'ort', size: 16, usage });
    device.queue.writeBuffer(buffer, 0, Float32Array.of(1, 2, 3, 4));
    const borrowed = wrapGpuBuffer(gpu, buffer, [2, 2], 'ort logits');
    expect(borrowed).toBeInstanceOf(GpuTensor);
    expect([...(await gpu.read(borrowed))[0]!]).toEqual([1, 2, 3, 4]);
    gpu.release(borrowed);
    const owned = wrapGpuBuffer(gpu, buffer, [3], 'ort logits', { owned: true });
    expect([...(await gpu.read(owned))[0]!]).toEqual([1, 2, 3]);
    gpu.release(owned);
    const dead = wrapGpuBuffer(gpu, buffer, [3], 'destroyed');
    await expect(gpu.read(dead)).rejects.toThrow(/destroyed/);
    gpu.dispose();
  });

  test('a buffer that is too short, and the wrong backend, are refused', async () => {
    const gpu = await openWebGpu();
    const { device } = await sharedDevice();
    const buffer = device.createBuffer({ label: 'short', size: 16, usage });
    expect(() => wrapGpuBuffer(gpu, buffer, [5], 'x')).toThrow(
      'x: a buffer of 16 bytes cannot hold shape [5]',
    );
    expect(() => wrapGpuBuffer(createCpuKernels(), buffer, [4], 'x')).toThrow('needs the webgpu kernels');
    buffer.destroy();
    gpu.dispose();
  });
});

describe('errors', () => {
  test('a validation error of an operation rejects the next read, once', async () => {
    const gpu = await openWebGpu();
    const { device } = await sharedDevice();
    const unusable = device.createBuffer({ label: 'no storage', size: 16, usage: USAGE.COPY_SRC });
    const logits = wrapGpuBuffer(gpu, unusable, [2, 2], 'logits');
    const result = gpu.kl({ logitsTar: logits, logitsCur: logits, temperature: 1, direction: 'tar-cur' });
    await expect(gpu.read(result.kl)).rejects.toThrow(/kl: .*(usage|Usage|Storage)/s);
    const fine = floats(gpu, [1]);
    expect([...(await gpu.read(fine))[0]!]).toEqual([1]);
    unusable.destroy();
    gpu.dispose();
  });

  test('a shader that does not compile is reported with its file, line and source', async () => {
    const { device, description } = await sharedDevice();
    const shaders = { ...loadShaders(), adamw: '// AdamW\nfn broken( {\n' };
    const opening = createWebGpuKernels({ device, description, shaders });
    await expect(opening).rejects.toThrow(/adamw\.wgsl:2:\d+: .*\n {2}fn broken\(/s);
  });

  test('a lost device resolves `lost` and fails reads with the reason', async () => {
    const own = await createNodeGpuDevice();
    const kernels = await createWebGpuKernels({ ...own, shaders: loadShaders() });
    const tensor = floats(kernels, [1]);
    own.dispose();
    expect(await kernels.lost).toContain('GPU device lost (destroyed)');
    await expect(kernels.read(tensor)).rejects.toThrow('GPU device lost (destroyed)');
  });
});
