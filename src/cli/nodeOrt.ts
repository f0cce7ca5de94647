import type { ModelProvider, ModelRuntime } from '../policies/modelRuntime.ts';
import { OrtRuntime } from '../policies/ortRuntime.ts';

/**
 * ONNX Runtime Web in Node. One thread by default: sums are then added in one order, so that equal seeds give equal
 * bytes. `threads` must be an integer >= 1. Throws if the webgpu provider is asked for: the package has it for browsers only.
 */
export async function createNodeRuntime(
  options: { readonly provider?: ModelProvider; readonly threads?: number } = {},
): Promise<ModelRuntime> {
  const { provider = 'wasm', threads = 1 } = options;
  if (provider === 'webgpu') {
    throw new Error('models: webgpu was asked for, but ONNX Runtime Web has it in browsers only; use wasm');
  }
  if (!Number.isInteger(threads) || threads < 1) {
    throw new RangeError(`threads: got ${threads}, expected an integer >= 1`);
  }
  const ort = await import('onnxruntime-web');
  ort.env.wasm.numThreads = threads;
  return new OrtRuntime(ort, { threads });
}
