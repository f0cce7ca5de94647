/** Compares one tiny transformer on wasm with cpu kernels and on WebGPU with shader kernels, and prints the differences. */
import { createCpuKernels } from '../../src/kernels/cpu/index.ts';
import { createWebGpuKernels } from '../../src/kernels/webgpu/index.ts';
import { shaders } from '../../src/kernels/webgpu/shaders.browser.ts';
import { buildTransformer } from '../../src/policies/graph/buildTransformer.ts';
import { createBrowserRuntime } from '../../src/policies/ortBrowser.ts';
import { compareProviders } from '../../src/policies/parity.ts';

async function parity() {
  const adapter = await navigator.gpu.requestAdapter();
  if (adapter === null) throw new Error('no WebGPU adapter');
  const device = await adapter.requestDevice();
  const bytes = buildTransformer({ vocabulary: 12, width: 16, layers: 1, heads: 2, context: 8, seed: 1 });
  const observations = {
    batch: 2,
    steps: 8,
    data: Int32Array.from({ length: 16 }, (_, k) => (5 * k + 3) % 12),
  };
  const reference = { runtime: await createBrowserRuntime(), kernels: createCpuKernels() };
  const kernels = await createWebGpuKernels({ device, description: 'parity', shaders });
  const candidate = { runtime: await createBrowserRuntime({ device }), kernels };
  return compareProviders(bytes, observations, reference, candidate);
}

const report = document.querySelector('#report');
parity().then(
  (differences) => report?.replaceChildren(JSON.stringify(differences)),
  (error: unknown) => report?.replaceChildren(`failed: ${String(error)}`),
);
