import { expectSameKind, sizeOfShape } from '../checks.ts';
import type {
  AdamWHyper,
  AdamWState,
  AdvantageArgs,
  AdvantageResult,
  ClippedObjectiveArgs,
  ClippedObjectiveResult,
  GroupNormaliseArgs,
  GroupNormaliseResult,
  Kernels,
  KlArgs,
  KlQuantile,
  KlQuantileArgs,
  KlResult,
  LogProbResult,
  SampleArgs,
  SampleResult,
  Tensor,
  TypedArray,
} from '../kernels.ts';
import * as batch from './batchOperations.ts';
import { Gpu, type GpuOptions } from './gpu.ts';
import * as policy from './policyOperations.ts';
import { Programs } from './programs.ts';
import * as table from './tableOperations.ts';
import { asGpuTensor, type GpuTensor } from './tensor.ts';
import type { Shaders } from './wgsl.ts';

export { GpuTensor, wrapGpuBuffer } from './tensor.ts';

export interface WebGpuKernelsOptions extends GpuOptions {
  /** Not owned: it outlives `dispose`, and may be shared with ONNX Runtime. */
  readonly device: GPUDevice;
  /** The adapter in words. */
  readonly description: string;
  /** WGSL sources by file name without `.wgsl`. */
  readonly shaders: Shaders;
}

/**
 * The kernels on a GPU, float32. Compiles every shader first; rejects with file, line and message of what does not
 * compile.
 */
export async function createWebGpuKernels(options: WebGpuKernelsOptions): Promise<WebGpuKernels> {
  const programs = await Programs.compile(options.device, options.shaders);
  return new WebGpuKernels(new Gpu(options.device, programs, options), options.description);
}

/** What stands for an infinity in float32 storage, where shaders may assume that there are none. */
const INFINITY_STAND_IN = 1e36;

function toFloat32(data: TypedArray): Float32Array<ArrayBuffer> {
  const out = Float32Array.from(data);
  for (let i = 0; i < out.length; i++) {
    if (out[i] === Infinity) out[i] = INFINITY_STAND_IN;
    else if (out[i] === -Infinity) out[i] = -INFINITY_STAND_IN;
  }
  return out;
}

/** The numbers in `bytes` as doubles. */
function toFloat64(tensor: GpuTensor, bytes: ArrayBuffer): Float64Array {
  if (tensor.dtype === 'i32') return Float64Array.from(new Int32Array(bytes));
  if (tensor.dtype === 'u32') return Float64Array.from(new Uint32Array(bytes));
  return Float64Array.from(new Float32Array(bytes));
}

class WebGpuKernels implements Kernels {
  readonly backend = 'webgpu';
  readonly lost: Promise<string>;

  constructor(
    private readonly gpu: Gpu,
    readonly description: string,
  ) {
    this.lost = gpu.lost;
  }

  /** Tensor buffers created so far: constant in a warmed-up loop. */
  get allocatedBuffers(): number {
    return this.gpu.allocatedBuffers;
  }

  /** Labels of live tensors behind whose end something was written; needs the option `guardBytes`. */
  strayWrites(): Promise<string[]> {
    return this.gpu.strayWrites();
  }

  tensor(data: TypedArray, shape: readonly number[], label: string): GpuTensor {
    const size = sizeOfShape(shape, label);
    if (data.length !== size) {
      throw new RangeError(
        `${label}: ${data.length} numbers do not fill shape [${shape.join(', ')}] (${size})`,
      );
    }
    const integers = data instanceof Int32Array || data instanceof Uint32Array;
    const dtype = data instanceof Int32Array ? 'i32' : data instanceof Uint32Array ? 'u32' : 'f32';
    const tensor = this.gpu.create(shape, dtype, label);
    this.gpu.write(tensor, integers ? data.slice() : toFloat32(data));
    return tensor;
  }

  zerosLike(like: Tensor, label: string): GpuTensor {
    const zeros = this.gpu.create(like.shape, asGpuTensor(like).dtype, label);
    this.gpu.encode(label, (encoder) => encoder.clearBuffer(zeros.buffer, 0, zeros.bytes));
    return zeros;
  }

  copy(source: Tensor, label: string): GpuTensor {
    const target = this.gpu.create(source.shape, asGpuTensor(source).dtype, label);
    this.assign(target, source);
    return target;
  }

  assign(target: Tensor, source: Tensor): void {
    expectSameKind('assign', target, source);
    const [to, from] = [asGpuTensor(target), asGpuTensor(source)];
    if (to.buffer === from.buffer) return;
    this.gpu.encode('assign', (encoder) =>
      encoder.copyBufferToBuffer(from.buffer, 0, to.buffer, 0, from.bytes),
    );
  }

  async read(...tensors: readonly Tensor[]): Promise<Float64Array[]> {
    const wanted = tensors.map(asGpuTensor);
    const contents = await this.gpu.read(wanted);
    return wanted.map((tensor, i) => toFloat64(tensor, contents[i]!));
  }

  release(...tensors: readonly (Tensor | undefined)[]): void {
    for (const tensor of tensors) if (tensor) asGpuTensor(tensor).release();
  }

  logProb(args: { logits: Tensor; actions: Tensor; temperature: number }): LogProbResult {
    return policy.logProb(this.gpu, args);
  }

  kl(args: KlArgs): KlResult {
    return policy.kl(this.gpu, args);
  }

  clippedObjective(args: ClippedObjectiveArgs): ClippedObjectiveResult {
    return policy.clippedObjective(this.gpu, args);
  }

  advantages(args: AdvantageArgs): AdvantageResult {
    return batch.advantages(this.gpu, args);
  }

  groupNormalise(args: GroupNormaliseArgs): GroupNormaliseResult {
    return batch.groupNormalise(this.gpu, args);
  }

  klQuantile(args: KlQuantileArgs): Promise<KlQuantile> {
    return batch.klQuantile(this.gpu, args);
  }

  sample(args: SampleArgs): SampleResult {
    return policy.sample(this.gpu, args);
  }

  gatherRows(rows: Tensor, index: Tensor): Tensor {
    return table.gatherRows(this.gpu, rows, index);
  }

  scatterAddRows(values: Tensor, index: Tensor, rows: number): Tensor {
    return table.scatterAddRows(this.gpu, values, index, rows);
  }

  clipGradNorm(grads: readonly Tensor[], maxNorm: number): Tensor {
    return table.clipGradNorm(this.gpu, grads, maxNorm);
  }

  adamw(params: readonly Tensor[], grads: readonly Tensor[], state: AdamWState, hyper: AdamWHyper): void {
    table.adamw(this.gpu, params, grads, state, hyper);
  }

  dispose(): void {
    this.gpu.dispose();
  }
}

export type { WebGpuKernels };
