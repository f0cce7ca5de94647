import { createCpuKernels } from '../kernels/cpu/index.ts';
import type { Backend, Kernels } from '../kernels/kernels.ts';
import { createWebGpuKernels } from '../kernels/webgpu/index.ts';
import { createNodeGpuDevice, loadShaders } from './nodeGpu.ts';

/** Kernels in Node: plain TypeScript, or the shaders on Dawn. The caller calls `dispose` at the end. */
export async function nodeKernels(backend: Backend): Promise<{ kernels: Kernels; dispose: () => void }> {
  if (backend === 'cpu') {
    const kernels = createCpuKernels();
    return { kernels, dispose: () => kernels.dispose() };
  }
  const gpu = await createNodeGpuDevice();
  const kernels = await createWebGpuKernels({
    device: gpu.device,
    description: gpu.description,
    shaders: await loadShaders(),
  });
  return {
    kernels,
    dispose: () => {
      kernels.dispose();
      gpu.dispose();
    },
  };
}
