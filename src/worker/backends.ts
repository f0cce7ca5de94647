/**
 * Where a run computes: probes the machine, honours what was asked for, and says in words why it is so. A GPU device is
 * acquired once and shared by kernels and ONNX Runtime, because a device that ONNX Runtime owns dies with its last
 * session.
 */
import { createCpuKernels } from '../kernels/cpu/index.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { ModelRuntime } from '../policies/modelRuntime.ts';
import { ConfigError } from '../runs/configError.ts';
import type { BackendChoice, BackendReport } from './protocol.ts';

/** A GPU that can be used, or why there is none. */
export type GpuProbe =
  | { readonly device: GPUDevice; readonly description: string; readonly software: boolean }
  | { readonly device?: never; readonly why: string };

/** What a run will use, decided before anything is built. */
export interface BackendPlan {
  readonly choice: BackendChoice;
  readonly report: BackendReport;
  readonly device?: GPUDevice;
}

/** Kernels and model runtime of one run. */
export interface Backends {
  readonly kernels: Kernels;
  /** The plan's, unless WebGPU kernels were not forced and did not start. */
  readonly report: BackendReport;
  readonly modelRuntime: () => Promise<ModelRuntime>;
}

const MAX_THREADS = 4;

/** How many wasm threads models get, and why not more. */
export function wasmThreads(
  wanted: number | undefined,
  machine: { readonly isolated: boolean; readonly cores: number },
): { readonly threads: number; readonly why: string } {
  if (!machine.isolated) {
    return { threads: 1, why: 'one thread, because the page is served without the isolation headers' };
  }
  if (wanted !== undefined) return { threads: wanted, why: 'as many threads as the address asks for' };
  const threads = Math.max(1, Math.min(MAX_THREADS, machine.cores - 1));
  const why =
    threads === MAX_THREADS
      ? `more than ${MAX_THREADS} threads do not help models this small`
      : 'one of the cores is left to the page';
  return { threads, why };
}

interface Half<B extends string> {
  readonly backend: B;
  readonly why: string;
}

/**
 * One half of the choice, kernels or models.
 *
 * @throws {ConfigError} if WebGPU is forced and there is none.
 */
function decide<B extends string>(
  field: 'kernels' | 'models',
  wanted: 'auto' | 'webgpu' | B,
  without: B,
  gpu: GpuProbe,
): Half<B | 'webgpu'> {
  if (wanted === 'webgpu') {
    if (gpu.device !== undefined) return { backend: 'webgpu', why: 'WebGPU was asked for' };
    throw new ConfigError([{ field, given: 'webgpu', allowed: `${without} or auto here: ${gpu.why}` }]);
  }
  if (wanted !== 'auto') return { backend: without, why: `${without} was asked for` };
  if (gpu.device === undefined) return { backend: without, why: gpu.why };
  if (gpu.software) {
    return { backend: without, why: `WebGPU has only a software adapter here (${gpu.description})` };
  }
  return { backend: 'webgpu', why: 'a GPU was found' };
}

/**
 * Decides where kernels and models run. Models are decided only for teams that have any.
 *
 * @throws {ConfigError} if a forced choice is impossible, with the reason.
 */
export function planBackends(
  choice: BackendChoice,
  gpu: GpuProbe,
  machine: { readonly isolated: boolean; readonly cores: number; readonly hasModels: boolean },
): BackendPlan {
  const kernels = decide('kernels', choice.kernels, 'cpu', gpu);
  const models = machine.hasModels ? decide('models', choice.models, 'wasm', gpu) : undefined;
  const wasm = models?.backend === 'wasm' ? wasmThreads(choice.threads, machine) : undefined;
  const usesGpu = kernels.backend === 'webgpu' || models?.backend === 'webgpu';
  const report: BackendReport = {
    kernels: kernels.backend,
    kernelsWhy: kernels.why,
    device: usesGpu && gpu.device !== undefined ? gpu.description : 'CPU',
    ...(models && {
      models: models.backend,
      modelsWhy: wasm === undefined ? models.why : `${models.why}; ${wasm.why}`,
    }),
    ...(wasm && { threads: wasm.threads }),
  };
  return { choice, report, ...(usesGpu && gpu.device !== undefined && { device: gpu.device }) };
}

/**
 * Builds what a plan says. No GPU code is fetched unless the plan uses a GPU, and no model runtime before it is asked
 * for. WebGPU kernels that do not start are replaced by cpu kernels, with the reason, unless they were forced.
 */
export async function openBackends(plan: BackendPlan, onProgress: (what: string) => void): Promise<Backends> {
  const { device } = plan;
  const { kernels, report } = await openKernels(plan);
  const modelRuntime = async () => {
    onProgress('loading ONNX Runtime, 27 MB the first time');
    const { createBrowserRuntime } = await import('../policies/ortBrowser.ts');
    if (report.models === 'webgpu' && device !== undefined) return createBrowserRuntime({ device });
    return createBrowserRuntime({ threads: report.threads ?? 1 });
  };
  return { kernels, report, modelRuntime };
}

async function openKernels({ choice, report, device }: BackendPlan): Promise<Omit<Backends, 'modelRuntime'>> {
  if (report.kernels === 'cpu' || device === undefined) return { kernels: createCpuKernels(), report };
  try {
    const [{ createWebGpuKernels }, { shaders }] = await Promise.all([
      import('../kernels/webgpu/index.ts'),
      import('../kernels/webgpu/shaders.browser.ts'),
    ]);
    return {
      kernels: await createWebGpuKernels({ device, description: report.device, shaders }),
      report,
    };
  } catch (error) {
    if (choice.kernels === 'webgpu') throw error;
    const kernelsWhy = `WebGPU kernels did not start on ${report.device} (${messageOf(error)})`;
    return { kernels: createCpuKernels(), report: { ...report, kernels: 'cpu', kernelsWhy } };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

let acquired: GpuProbe | undefined;

/** The GPU of this worker: found once, and again after a loss. */
export async function probeGpu(): Promise<GpuProbe> {
  if (acquired?.device !== undefined) return acquired;
  acquired = await acquireGpu();
  void acquired.device?.lost.then(() => {
    acquired = undefined;
  });
  return acquired;
}

async function acquireGpu(): Promise<GpuProbe> {
  const { gpu } = globalThis.navigator;
  if (gpu === undefined) {
    const why = globalThis.isSecureContext
      ? 'this browser offers no WebGPU'
      : 'browsers offer WebGPU only over https and on localhost';
    return { why };
  }
  try {
    const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
    if (adapter === null) return { why: 'WebGPU found no adapter on this machine' };
    const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
    const device = await adapter.requestDevice({
      label: 'sat engine',
      requiredLimits: { maxBufferSize, maxStorageBufferBindingSize },
    });
    const { description, vendor, architecture, isFallbackAdapter } = adapter.info;
    const name = description || [vendor, architecture].filter(Boolean).join(' ') || 'WebGPU adapter';
    return { device, description: name, software: isFallbackAdapter };
  } catch (error) {
    return { why: `WebGPU did not start (${messageOf(error)})` };
  }
}
