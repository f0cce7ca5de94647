/** Carries tensors between the kernels backend and the inference engine, without a copy where both share memory. */

import { dataOf } from '../kernels/cpu/tensor.ts';
import type { Kernels, Tensor } from '../kernels/kernels.ts';
import type { ModelOutput, ModelTensor } from './modelRuntime.ts';

/** A kernels tensor and the dimensions under which the model takes it. */
export interface Outgoing {
  readonly tensor: Tensor;
  readonly dims: readonly number[];
}

/** Moves float32 data between one kernels backend and one runtime. */
export class TensorBridge {
  constructor(private readonly kernels: Kernels) {}

  /** Where the model should leave its outputs. */
  readonly outputLocation: ModelTensor['location'] = 'host';

  /** Tensors as model inputs: host arrays are passed as they are, device data are read back once. */
  async toModel(outgoing: readonly Outgoing[]): Promise<ModelTensor[]> {
    if (this.kernels.backend === 'cpu') {
      return outgoing.map(({ tensor, dims }) => ({
        location: 'host',
        data: asFloat32(dataOf(tensor)),
        dims,
      }));
    }
    const values = await this.kernels.read(...outgoing.map(({ tensor }) => tensor));
    return outgoing.map(({ dims }, index) => ({ location: 'host', data: asFloat32(values[index]!), dims }));
  }

  /** A model output as a kernels tensor of shape `shape`, owned by the caller. */
  fromModel(output: ModelOutput, shape: readonly number[], label: string): Tensor {
    if (output.location === 'host') return this.kernels.tensor(output.data, shape, label);
    throw new Error(`${label}: unexpected device output`);
  }
}

function asFloat32(data: ArrayLike<number>): Float32Array {
  return data instanceof Float32Array ? data : Float32Array.from(data);
}
