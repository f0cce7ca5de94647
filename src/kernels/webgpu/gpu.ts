import { sizeOfShape } from '../checks.ts';
import type { DType } from '../kernels.ts';
import { BufferPool, USAGE } from './bufferPool.ts';
import {
  LONGEST_THREAD_ROW,
  type Program,
  type ProgramName,
  type Programs,
  type Reduction,
} from './programs.ts';
import { ELEMENT_BYTES, GpuTensor, TENSOR_USAGE } from './tensor.ts';
import { paramsBytes, writeParams } from './wgsl.ts';

/** WebGPU's guaranteed alignment of uniform bindings. */
const PARAMS_STRIDE = 256;
/** Dispatches whose parameters fit one submission. */
const MAX_DISPATCHES = 256;
/** What fills the bytes behind a tensor when stray writes are watched for. */
const SENTINEL = 0x5afe6a4d;

/** One kernel launch. Bindings and parameters are named as in its WGSL file. */
export interface Dispatch {
  readonly program: ProgramName;
  readonly reduction: Reduction;
  readonly bindings: Readonly<Record<string, GpuTensor>>;
  readonly params: Readonly<Record<string, number>>;
  /** Rows or elements to cover; 0 launches nothing. */
  readonly rows: number;
}

export interface GpuOptions {
  /** Forces a reduction strategy; by default the row length decides. */
  readonly reduction?: Reduction;
  /** Extra bytes behind every tensor, filled with a sentinel that `strayWrites` looks for. For tests. */
  readonly guardBytes?: number;
  /** Most workgroups along one axis of a dispatch; the device's limit by default. For tests. */
  readonly maxWorkgroups?: number;
}

/** The device with everything the operations share: compiled kernels, buffers, submission and readback. */
export class Gpu {
  private readonly tensors: BufferPool;
  private readonly staging: BufferPool;
  private readonly params: GPUBuffer;
  private readonly paramsImage = new DataView(new ArrayBuffer(MAX_DISPATCHES * PARAMS_STRIDE));
  /** With `guardBytes`: every tensor since the last `strayWrites`, kept from reuse until then. */
  private readonly watched = new Map<GpuTensor, { readonly buffer: GPUBuffer; released: boolean }>();
  private readonly pendingScopes = new Set<Promise<void>>();
  private errors: string[] = [];
  private lostReason: string | undefined;
  /** Resolves with a reason when the device is lost. */
  readonly lost: Promise<string>;

  constructor(
    readonly device: GPUDevice,
    private readonly programs: Programs,
    private readonly options: GpuOptions,
  ) {
    this.tensors = new BufferPool(device, TENSOR_USAGE);
    this.staging = new BufferPool(device, USAGE.MAP_READ | USAGE.COPY_DST);
    this.params = device.createBuffer({
      label: 'kernel params',
      size: this.paramsImage.byteLength,
      usage: USAGE.UNIFORM | USAGE.COPY_DST,
    });
    this.lost = device.lost.then(({ reason, message }) => {
      this.lostReason = `GPU device lost (${reason}): ${message}`;
      return this.lostReason;
    });
    device.addEventListener('uncapturederror', this.onUncapturedError);
  }

  private readonly onUncapturedError = (event: GPUUncapturedErrorEvent): void => {
    this.errors.push(event.error.message);
  };

  /** The strategy for rows of `columns`. */
  reductionFor(columns: number): Reduction {
    return this.options.reduction ?? (columns > LONGEST_THREAD_ROW ? 'workgroup' : 'thread');
  }

  /** Tensor buffers created so far. */
  get allocatedBuffers(): number {
    return this.tensors.allocated;
  }

  /** A tensor with undefined contents, backed by the pool. */
  create(shape: readonly number[], dtype: Exclude<DType, 'f64'>, label: string): GpuTensor {
    const bytes = sizeOfShape(shape, label) * ELEMENT_BYTES;
    const buffer = this.tensors.acquire(bytes + (this.options.guardBytes ?? 0), label);
    if (this.options.guardBytes) return this.watch(buffer, shape, dtype, label);
    return new GpuTensor(buffer, shape, dtype, label, (freed) => this.tensors.release(freed));
  }

  private watch(
    buffer: GPUBuffer,
    shape: readonly number[],
    dtype: GpuTensor['dtype'],
    label: string,
  ): GpuTensor {
    const state = { buffer, released: false };
    const tensor = new GpuTensor(buffer, shape, dtype, label, () => {
      state.released = true;
    });
    const guard = new Uint32Array((buffer.size - tensor.bytes) / ELEMENT_BYTES).fill(SENTINEL);
    this.device.queue.writeBuffer(buffer, tensor.bytes, guard);
    this.watched.set(tensor, state);
    return tensor;
  }

  /** Runs `work` under an error scope: a validation error in it rejects the next `read`. */
  private guarded(label: string, work: () => void): void {
    this.device.pushErrorScope('validation');
    try {
      work();
    } finally {
      const scope: Promise<void> = this.device.popErrorScope().then(
        (error) => {
          this.pendingScopes.delete(scope);
          if (error) this.errors.push(`${label}: ${error.message}`);
        },
        () => {
          // The device is gone; `lost` and the next read say so.
          this.pendingScopes.delete(scope);
        },
      );
      this.pendingScopes.add(scope);
    }
  }

  /** Encodes copies or clears and submits them. */
  encode(label: string, work: (encoder: GPUCommandEncoder) => void): void {
    this.guarded(label, () => {
      const encoder = this.device.createCommandEncoder({ label });
      work(encoder);
      this.device.queue.submit([encoder.finish()]);
    });
  }

  /** Writes host data into a tensor. */
  write(
    tensor: GpuTensor,
    data: Float32Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>,
  ): void {
    this.guarded(tensor.label, () => this.device.queue.writeBuffer(tensor.buffer, 0, data));
  }

  /** Launches kernels in order, in one submission unless they are more than 256. */
  run(label: string, dispatches: readonly Dispatch[]): void {
    const wanted = dispatches.filter(({ rows }) => rows > 0);
    for (let start = 0; start < wanted.length; start += MAX_DISPATCHES) {
      const batch = wanted.slice(start, start + MAX_DISPATCHES);
      this.encode(label, (encoder) => {
        const programs = batch.map(({ program, reduction }) => this.programs.get(program, reduction));
        batch.forEach(({ params }, i) => {
          writeParams(programs[i]!.source.params, params, this.paramsImage, i * PARAMS_STRIDE);
        });
        this.device.queue.writeBuffer(
          this.params,
          0,
          this.paramsImage.buffer,
          0,
          batch.length * PARAMS_STRIDE,
        );
        const pass = encoder.beginComputePass({ label });
        for (const [i, dispatch] of batch.entries())
          this.launch(pass, programs[i]!, dispatch, i * PARAMS_STRIDE);
        pass.end();
      });
    }
  }

  private launch(
    pass: GPUComputePassEncoder,
    program: Program,
    dispatch: Dispatch,
    paramsOffset: number,
  ): void {
    const { bindings, params } = program.source;
    const number = (name: string): number => {
      const binding = bindings.get(name);
      if (binding === undefined) throw new RangeError(`kernel ${program.name} has no binding ${name}`);
      return binding;
    };
    const entries: GPUBindGroupEntry[] = Object.entries(dispatch.bindings).map(([name, tensor]) => ({
      binding: number(name),
      resource: { buffer: tensor.buffer },
    }));
    entries.push({
      binding: number('params'),
      resource: { buffer: this.params, offset: paramsOffset, size: paramsBytes(params) },
    });
    pass.setPipeline(program.pipeline);
    const layout = program.pipeline.getBindGroupLayout(0);
    pass.setBindGroup(0, this.device.createBindGroup({ label: program.name, layout, entries }));
    const workgroups = Math.ceil(dispatch.rows / program.rowsPerWorkgroup);
    const most = this.options.maxWorkgroups ?? this.device.limits.maxComputeWorkgroupsPerDimension;
    const y = Math.ceil(workgroups / most);
    pass.dispatchWorkgroups(Math.ceil(workgroups / y), y);
  }

  /** The bytes of all `tensors`, by one copy and one map. Rejects with any error raised since the last read. */
  async read(tensors: readonly GpuTensor[]): Promise<ArrayBuffer[]> {
    const total = tensors.reduce((sum, tensor) => sum + tensor.bytes, 0);
    const staging = this.staging.acquire(total, 'readback');
    let offset = 0;
    const ranges = tensors.map((tensor) => {
      const start = offset;
      offset += tensor.bytes;
      return { tensor, start };
    });
    this.encode('read', (encoder) => {
      for (const { tensor, start } of ranges) {
        if (tensor.bytes > 0) encoder.copyBufferToBuffer(tensor.buffer, 0, staging, start, tensor.bytes);
      }
    });
    try {
      // 1 is GPUMapMode.READ.
      await staging.mapAsync(1);
    } catch (error) {
      this.errors.push(`read: ${error instanceof Error ? error.message : String(error)}`);
    }
    await Promise.all(this.pendingScopes);
    this.throwErrors();
    const all = staging.getMappedRange();
    const copies = ranges.map(({ tensor, start }) => all.slice(start, start + tensor.bytes));
    staging.unmap();
    this.staging.release(staging);
    return copies;
  }

  /** Throws what went wrong since the last read, once. A staging buffer in use then is left to `dispose`. */
  private throwErrors(): void {
    if (this.lostReason) throw new Error(this.lostReason);
    const report = this.errors.join('\n');
    this.errors = [];
    if (report !== '') throw new Error(report);
  }

  /**
   * Labels of tensors, also released ones, behind whose end something was written since the last call.
   * Needs `guardBytes`.
   */
  async strayWrites(): Promise<string[]> {
    const entries = [...this.watched];
    const words = (buffer: GPUBuffer) => [buffer.size / ELEMENT_BYTES];
    const contents = await this.read(
      entries.map(([{ label }, { buffer }]) => new GpuTensor(buffer, words(buffer), 'u32', label, () => {})),
    );
    for (const [tensor, { buffer, released }] of entries) {
      if (!released) continue;
      this.watched.delete(tensor);
      this.tensors.release(buffer);
    }
    const touched = (tensor: GpuTensor, bytes: ArrayBuffer) =>
      new Uint32Array(bytes).subarray(tensor.size).some((word) => word !== SENTINEL);
    return entries.filter(([tensor], i) => touched(tensor, contents[i]!)).map(([tensor]) => tensor.label);
  }

  dispose(): void {
    this.device.removeEventListener('uncapturederror', this.onUncapturedError);
    this.tensors.destroy();
    this.staging.destroy();
    this.params.destroy();
  }
}
