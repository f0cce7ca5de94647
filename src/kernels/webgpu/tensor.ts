import { sizeOfShape } from '../checks.ts';
import type { DType, Kernels, Tensor } from '../kernels.ts';
import { USAGE } from './bufferPool.ts';

/** Bytes of every element: f32, i32 or u32. */
export const ELEMENT_BYTES = 4;

/** Usage of every tensor buffer, also what ONNX Runtime asks of a buffer that it shares. */
export const TENSOR_USAGE = USAGE.STORAGE | USAGE.COPY_SRC | USAGE.COPY_DST;

/** Numbers in a GPU buffer, from offset 0. The buffer may be longer than the tensor. */
export class GpuTensor implements Tensor {
  readonly backend = 'webgpu';
  readonly size: number;
  private released = false;

  /** `onRelease` says what becomes of the buffer. */
  constructor(
    private readonly storage: GPUBuffer,
    readonly shape: readonly number[],
    readonly dtype: Exclude<DType, 'f64'>,
    readonly label: string,
    private readonly onRelease: (buffer: GPUBuffer) => void,
  ) {
    this.size = sizeOfShape(shape, label);
    if (storage.size < this.bytes) {
      throw new RangeError(
        `${label}: a buffer of ${storage.size} bytes cannot hold shape [${shape.join(', ')}]`,
      );
    }
  }

  get bytes(): number {
    return this.size * ELEMENT_BYTES;
  }

  /** The buffer, usage STORAGE | COPY_SRC | COPY_DST; throws after release. */
  get buffer(): GPUBuffer {
    if (this.released) throw new Error(`tensor "${this.label}" was released and cannot be used`);
    return this.storage;
  }

  release(): void {
    if (this.released) throw new Error(`tensor "${this.label}" was released twice`);
    this.released = true;
    this.onRelease(this.storage);
  }
}

/** `tensor` as a GPU tensor; throws if it belongs to another backend. */
export function asGpuTensor(tensor: Tensor): GpuTensor {
  if (!(tensor instanceof GpuTensor)) {
    throw new TypeError(
      `tensor "${tensor.label}" belongs to the ${tensor.backend} backend, must be a webgpu tensor`,
    );
  }
  return tensor;
}

/**
 * Adopts a foreign buffer of the same device, e.g. ONNX Runtime's output, as a tensor of `kernels`.
 * @param options.dtype element type of what the buffer holds, f32 by default
 * @param options.owned destroy the buffer on release; by default it is left to whoever made it
 * Throws a RangeError if the buffer is too short for `shape`, a TypeError if `kernels` is not the webgpu backend.
 */
export function wrapGpuBuffer(
  kernels: Kernels,
  buffer: GPUBuffer,
  shape: readonly number[],
  label: string,
  options: { readonly dtype?: Exclude<DType, 'f64'>; readonly owned?: boolean } = {},
): GpuTensor {
  if (kernels.backend !== 'webgpu') {
    throw new TypeError(
      `${label}: a GPU buffer needs the webgpu kernels, given the ${kernels.backend} kernels`,
    );
  }
  const onRelease = options.owned ? (freed: GPUBuffer) => freed.destroy() : () => {};
  return new GpuTensor(buffer, shape, options.dtype ?? 'f32', label, onRelease);
}
