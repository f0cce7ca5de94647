import { sizeOfShape } from '../checks.ts';
import type { DType, Tensor, TypedArray } from '../kernels.ts';

const DTYPE_OF: Record<string, DType> = {
  Float64Array: 'f64',
  Float32Array: 'f32',
  Int32Array: 'i32',
  Uint32Array: 'u32',
};

/** Numbers in host memory. Float32 data stays float32 in storage; arithmetic is float64. */
export class CpuTensor implements Tensor {
  readonly backend = 'cpu';
  readonly size: number;
  readonly dtype: DType;
  private storage: TypedArray | undefined;

  /** Takes `data` over without copying. */
  constructor(
    data: TypedArray,
    readonly shape: readonly number[],
    readonly label: string,
  ) {
    this.size = sizeOfShape(shape, label);
    if (data.length !== this.size) {
      throw new RangeError(
        `${label}: ${data.length} numbers do not fill shape [${shape.join(', ')}] (${this.size})`,
      );
    }
    this.dtype = DTYPE_OF[data.constructor.name] ?? 'f64';
    this.storage = data;
  }

  get data(): TypedArray {
    if (!this.storage) throw new Error(`tensor "${this.label}" was released and cannot be used`);
    return this.storage;
  }

  release(): void {
    if (!this.storage) throw new Error(`tensor "${this.label}" was released twice`);
    this.storage = undefined;
  }
}

/** The numbers behind `tensor`; throws if it belongs to another backend or was released. */
export function dataOf(tensor: Tensor): TypedArray {
  if (!(tensor instanceof CpuTensor)) {
    throw new TypeError(
      `tensor "${tensor.label}" belongs to the ${tensor.backend} backend, must be a cpu tensor`,
    );
  }
  return tensor.data;
}
