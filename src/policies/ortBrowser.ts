import mjsUrl from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.mjs?url';
import wasmUrl from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url';
import type { ModelRuntime } from './modelRuntime.ts';
import { type OrtModule, OrtRuntime } from './ortRuntime.ts';

let loading: Promise<OrtModule> | undefined;

/**
 * ONNX Runtime Web in a page or a module worker. The package and its 27 MB of wasm are fetched on the first call, from this
 * site. With `device` models run on that GPUDevice, else on wasm with `threads` threads (default 1), for which the page
 * must be cross-origin isolated. The first call fixes the number of threads: the engine starts only once.
 */
export async function createBrowserRuntime(
  options: { readonly device?: GPUDevice; readonly threads?: number } = {},
): Promise<ModelRuntime> {
  const { device, threads = 1 } = options;
  loading ??= load(threads);
  const ort = await loading;
  return new OrtRuntime(ort, { threads: ort.env.wasm.numThreads ?? 1, ...(device && { device }) });
}

async function load(threads: number): Promise<OrtModule> {
  if (!Number.isInteger(threads) || threads < 1) {
    throw new RangeError(`threads: got ${threads}, expected an integer >= 1`);
  }
  const ort = await import('onnxruntime-web/webgpu');
  ort.env.wasm.wasmPaths = { mjs: mjsUrl, wasm: wasmUrl };
  ort.env.wasm.numThreads = globalThis.crossOriginIsolated ? threads : 1;
  return ort;
}
