import type * as Ort from 'onnxruntime-web';
import type { ModelOutput, ModelProvider, ModelRuntime, ModelSession, ModelTensor } from './modelRuntime.ts';

/** The loaded package: `onnxruntime-web` in Node, `onnxruntime-web/webgpu` in a browser. */
export type OrtModule = typeof Ort;

/** The last call to the engine; there is one engine, whatever the number of runtimes. */
let queue: Promise<unknown> = Promise.resolve();

/** Runs `task` after every earlier one. */
function enqueue<T>(task: () => Promise<T>): Promise<T> {
  const result = queue.then(task);
  queue = result.catch(() => undefined);
  return result;
}

/**
 * ONNX Runtime Web as a `ModelRuntime`. All calls pass through one queue: the engine is not re-entrant, and two first
 * sessions created at once race during its initialisation. With provider `webgpu` the engine is given our `device`, so
 * releasing its last session cannot destroy it (onnxruntime #27634: it destroys a device of its own).
 */
export class OrtRuntime implements ModelRuntime {
  readonly provider: ModelProvider;
  readonly description: string;
  declare readonly device?: GPUDevice;

  /** `device` selects the webgpu provider; without it models run on wasm. `threads` is for the description. */
  constructor(
    private readonly ort: OrtModule,
    options: { readonly device?: GPUDevice; readonly threads: number },
  ) {
    if (options.device) this.device = options.device;
    this.provider = options.device ? 'webgpu' : 'wasm';
    const where = options.device
      ? 'webgpu'
      : `wasm, ${options.threads} ${options.threads === 1 ? 'thread' : 'threads'}`;
    this.description = `ONNX Runtime Web ${ort.env.versions.web ?? ort.env.versions.common}, ${where}`;
  }

  async createSession(
    bytes: Uint8Array,
    options: Parameters<ModelRuntime['createSession']>[1],
  ): Promise<ModelSession> {
    const onDevice = options.outputLocation === 'device';
    if (onDevice && !this.device) {
      throw new Error(`model ${options.label}: outputs on the device need provider webgpu, this is wasm`);
    }
    const session = await enqueue(() =>
      this.ort.InferenceSession.create(bytes, {
        executionProviders: this.device ? [{ name: 'webgpu', device: this.device }] : ['wasm'],
        graphOptimizationLevel: 'all',
        // Only fatal messages: errors reach the caller as exceptions.
        logSeverityLevel: 4,
        ...(onDevice && { preferredOutputLocation: 'gpu-buffer' }),
      }),
    );
    return {
      run: (feeds) =>
        enqueue(async () => {
          const inputs = Object.fromEntries(
            Object.entries(feeds).map(([name, tensor]) => [name, this.toOrt(tensor)]),
          );
          const results = await session.run(inputs, [...options.outputs]).catch((cause: unknown) => {
            const reason = cause instanceof Error ? cause.message : String(cause);
            throw new Error(`model ${options.label}: ${reason}`, { cause });
          });
          return toOutputs(results);
        }),
      release: () => enqueue(() => session.release()),
    };
  }

  private toOrt(tensor: ModelTensor): Ort.Tensor {
    if (tensor.location === 'device') {
      return this.ort.Tensor.fromGpuBuffer(tensor.buffer, { dataType: 'float32', dims: [...tensor.dims] });
    }
    const { data, dims } = tensor;
    if (data instanceof Float32Array) return new this.ort.Tensor('float32', data, dims);
    if (data instanceof Int32Array) return new this.ort.Tensor('int32', data, dims);
    return new this.ort.Tensor('int64', data, dims);
  }
}

function toOutputs(results: Ort.InferenceSession.ReturnType): Record<string, ModelOutput> {
  return Object.fromEntries(
    Object.entries(results).map(([name, tensor]): [string, ModelOutput] => {
      if (tensor.location === 'gpu-buffer') {
        const dispose = () => tensor.dispose();
        return [
          name,
          { location: 'device', buffer: tensor.gpuBuffer as GPUBuffer, dims: tensor.dims, dispose },
        ];
      }
      const data = tensor.data;
      if (!(data instanceof Float32Array)) {
        throw new TypeError(`output "${name}" is ${tensor.type}; expected float32`);
      }
      return [name, { location: 'host', data, dims: tensor.dims }];
    }),
  );
}
