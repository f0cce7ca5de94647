import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createNodeRuntime } from '../cli/nodeOrt.ts';
import { createCpuKernels } from '../kernels/cpu/index.ts';
import { compareGolden, type GoldenFile } from '../runs/golden.ts';
import { runTransformerCase } from './golden.ts';

const file: GoldenFile = JSON.parse(readFileSync('test/golden/transformer.json', 'utf8'));

test.each(file.cases)('golden transformer $name', async (golden) => {
  const runtime = await createNodeRuntime();
  const actual = await runTransformerCase(golden.input, runtime, createCpuKernels());
  // ONNX computes in float32, so the float32 tolerances apply.
  expect(compareGolden(actual, golden.expected, golden, 'webgpu')).toEqual({ ok: true });
});
