import { describe, expect, test } from 'vitest';
import { ConfigError } from '../runs/configError.ts';
import { type GpuProbe, planBackends, wasmThreads } from './backends.ts';

/** Stands for a device; planning only hands it on. */
const device = { label: 'a device' } as GPUDevice;
const gpu: GpuProbe = { device, description: 'ACME 9000', software: false };
const software: GpuProbe = { device, description: 'SwiftShader', software: true };
const none: GpuProbe = { why: 'this browser offers no WebGPU' };
const machine = { isolated: true, cores: 8, hasModels: true };
const auto = { models: 'auto', kernels: 'auto' } as const;

describe('auto', () => {
  test('takes a real GPU for both halves', () => {
    const plan = planBackends(auto, gpu, machine);
    expect(plan.report).toMatchObject({ kernels: 'webgpu', models: 'webgpu', device: 'ACME 9000' });
    expect(plan.device).toBe(device);
    expect(plan.report).not.toHaveProperty('threads');
  });

  test('takes the CPU where there is only a software adapter, and says so', () => {
    const { report, device: used } = planBackends(auto, software, machine);
    expect(report).toMatchObject({ kernels: 'cpu', models: 'wasm', device: 'CPU', threads: 4 });
    expect(report.kernelsWhy).toContain('software adapter');
    expect(report.modelsWhy).toContain('SwiftShader');
    expect(used).toBeUndefined();
  });

  test('takes the CPU where there is no WebGPU, with the reason', () => {
    const { report } = planBackends(auto, none, machine);
    expect(report.kernelsWhy).toBe('this browser offers no WebGPU');
  });

  test('says nothing of models for teams without any', () => {
    const { report } = planBackends(auto, gpu, { ...machine, hasModels: false });
    expect(report).not.toHaveProperty('models');
  });
});

describe('forced', () => {
  test('WebGPU on a software adapter is honoured', () => {
    const { report } = planBackends({ models: 'wasm', kernels: 'webgpu' }, software, machine);
    expect(report).toMatchObject({ kernels: 'webgpu', models: 'wasm', device: 'SwiftShader' });
  });

  test('the CPU is honoured beside a GPU', () => {
    const { report } = planBackends({ models: 'wasm', kernels: 'cpu' }, gpu, machine);
    expect(report).toMatchObject({ kernels: 'cpu', models: 'wasm', device: 'CPU' });
  });

  test.each(['kernels', 'models'] as const)(
    'WebGPU for %s where there is none is an error with field and reason',
    (half) => {
      const choice = { ...auto, [half]: 'webgpu' };
      const attempt = () => planBackends(choice, none, machine);
      expect(attempt).toThrow(ConfigError);
      expect(attempt).toThrow(`${half}: given webgpu`);
      expect(attempt).toThrow('this browser offers no WebGPU');
    },
  );
});

describe('threads', () => {
  test('one without isolation, whatever was asked for', () => {
    expect(wasmThreads(4, { isolated: false, cores: 8 }).threads).toBe(1);
  });

  test.each([
    [1, 1],
    [2, 1],
    [4, 3],
    [16, 4],
  ])('of %i cores, %i: one is left to the page, four are enough', (cores, threads) => {
    expect(wasmThreads(undefined, { isolated: true, cores }).threads).toBe(threads);
  });
});
