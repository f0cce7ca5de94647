import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readAddress } from './address.ts';
import { presets } from './presets.ts';

test('an empty address opens the doorway wherever it runs best', () => {
  expect(readAddress('')).toEqual({
    presetId: 'doorway',
    backends: { models: 'auto', kernels: 'auto' },
    problems: [],
  });
});

test('preset, backends and threads are read; foreign parameters are left alone', () => {
  expect(readAddress('?preset=sum&models=wasm&kernels=webgpu&threads=2&utm=x')).toEqual({
    presetId: 'sum',
    backends: { models: 'wasm', kernels: 'webgpu', threads: 2 },
    problems: [],
  });
});

test('what is not understood is named with what is allowed, and defaults are used', () => {
  const { presetId, backends, problems } = readAddress('?preset=x&models=cuda&threads=0');
  expect({ presetId, backends }).toEqual({
    presetId: 'doorway',
    backends: { models: 'auto', kernels: 'auto' },
  });
  expect(problems.map(({ field, given }) => `${field} ${given}`)).toEqual([
    'preset "x"',
    'models "cuda"',
    'threads "0"',
  ]);
  expect(problems[1]?.allowed).toBe('one of auto, webgpu, wasm');
});

test('the menu lists every preset that ships', () => {
  const files = readdirSync(new URL('../../public/presets', import.meta.url)).filter((name) =>
    name.endsWith('.yaml'),
  );
  expect(presets.map(({ id }) => `${id}.yaml`).sort()).toEqual(files.sort());
});
