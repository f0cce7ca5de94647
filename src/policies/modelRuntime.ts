/**
 * What a policy needs of an inference engine: sessions that run ONNX bytes on named tensors. ONNX Runtime Web is the
 * one implementation (`ortRuntime.ts`); this interface keeps its types out of the rest of the engine.
 */

export type ModelProvider = 'wasm' | 'webgpu';

/** Numbers on the host, row-major. `dims` multiply to `data.length`. */
export interface HostTensor {
  readonly location: 'host';
  readonly data: Float32Array | Int32Array | BigInt64Array;
  readonly dims: readonly number[];
}

/** float32 numbers in a GPU buffer of the device that the runtime was created with. */
export interface DeviceTensor {
  readonly location: 'device';
  readonly buffer: GPUBuffer;
  readonly dims: readonly number[];
}

export type ModelTensor = HostTensor | DeviceTensor;

/** float32 numbers that a session returned. */
export type ModelOutput =
  | { readonly location: 'host'; readonly data: Float32Array; readonly dims: readonly number[] }
  | (DeviceTensor & {
      /** Gives the buffer back to the engine; it must not be used afterwards. */
      dispose(): void;
    });

export interface ModelSession {
  /**
   * Runs the model. Output arrays are fresh: they never alias an input or an earlier output. Inputs are read before
   * the promise resolves and may be changed afterwards. Rejects with the engine's message on a bad feed.
   */
  run(feeds: Readonly<Record<string, ModelTensor>>): Promise<Readonly<Record<string, ModelOutput>>>;
  release(): Promise<void>;
}

export interface ModelRuntime {
  readonly provider: ModelProvider;
  /** Human description, e.g. "ONNX Runtime Web 1.30.0, wasm, 1 thread". */
  readonly description: string;
  /** The device whose buffers `DeviceTensor`s may come from; only with provider `webgpu`. */
  readonly device?: GPUDevice;
  /**
   * Prepares a model whose outputs are named `outputs`, all float32. `outputLocation: 'device'` needs provider
   * `webgpu`. Sessions of a runtime are created and run one at a time, in call order.
   */
  createSession(
    bytes: Uint8Array,
    options: {
      readonly label: string;
      readonly outputs: readonly string[];
      readonly outputLocation: ModelTensor['location'];
    },
  ): Promise<ModelSession>;
}
