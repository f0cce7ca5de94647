/** Carries float32 tensors between a kernels backend and the inference engine. */

import { dataOf } from '../kernels/cpu/tensor.ts';
import type { Kernels, Tensor } from '../kernels/kernels.ts';
import { asGpuTensor, GpuTensor } from '../kernels/webgpu/tensor.ts';
import type { ModelOutput, ModelRuntime, ModelTensor } from './modelRuntime.ts';

/** A kernels tensor and the dimensions under which the model takes it. */
export interface Outgoing {
  readonly tensor: Tensor;
  readonly dims: readonly number[];
}

/**
 * Where kernels and models both run on a GPU they must share one device, and tensors change hands as buffers: kernels submit
 * each operation at once and the engine submits by the end of a run, so the device's queue keeps the order. Host arrays of
 * cpu kernels are handed over as they are. Other combinations copy through the host.
 */
export class TensorBridge {
  /** Where the model should leave its outputs. */
  readonly outputLocation: ModelTensor['location'];

  constructor(
    private readonly kernels: Kernels,
    runtime: ModelRuntime,
  ) {
    const shared = kernels.backend === 'webgpu' && runtime.device !== undefined;
    this.outputLocation = shared ? 'device' : 'host';
  }

  async toModel(outgoing: readonly Outgoing[]): Promise<ModelTensor[]> {
    if (this.outputLocation === 'device') {
      return outgoing.map(({ tensor, dims }) => ({
        location: 'device',
        buffer: asGpuTensor(tensor).buffer,
        dims,
      }));
    }
    const numbers =
      this.kernels.backend === 'cpu'
        ? outgoing.map(({ tensor }) => dataOf(tensor))
        : await this.kernels.read(...outgoing.map(({ tensor }) => tensor));
    return outgoing.map(({ dims }, index) => ({
      location: 'host',
      data: asFloat32(numbers[index]!),
      dims,
    }));
  }

  /**
   * A model output of dimensions `dims` as a kernels tensor of shape `shape`, owned by the caller. Throws `RangeError` for
   * an output of other dimensions.
   */
  fromModel(output: ModelOutput, label: string, dims: readonly number[], shape = dims): Tensor {
    if (output.dims.length !== dims.length || output.dims.some((dim, axis) => dim !== dims[axis])) {
      if (output.location === 'device') output.dispose();
      throw new RangeError(`model output "${label}" is [${output.dims}], expected [${dims}]`);
    }
    if (output.location === 'host') return this.kernels.tensor(output.data, shape, label);
    return new GpuTensor(output.buffer, shape, 'f32', label, () => output.dispose());
  }
}

function asFloat32(data: ArrayLike<number>): Float32Array {
  return data instanceof Float32Array ? data : Float32Array.from(data);
}
