/** Flags of GPUBufferUsage and GPUMapMode by the WebGPU specification; Node has no such globals. */
export const USAGE = {
  MAP_READ: 0x01,
  COPY_SRC: 0x04,
  COPY_DST: 0x08,
  UNIFORM: 0x40,
  STORAGE: 0x80,
} as const;

/** Sizes are rounded up to this, so that tensors of nearly the same size share buffers. */
const GRANULE_BYTES = 256;

/** Buffers of one usage, kept for reuse after release: a training loop allocates in its first step only. */
export class BufferPool {
  private readonly free = new Map<number, GPUBuffer[]>();
  private readonly all = new Set<GPUBuffer>();

  constructor(
    private readonly device: GPUDevice,
    private readonly usage: GPUBufferUsageFlags,
  ) {}

  /** Buffers ever created: constant once a loop has warmed up. */
  get allocated(): number {
    return this.all.size;
  }

  /** A buffer of at least `bytes`, contents undefined. */
  acquire(bytes: number, label: string): GPUBuffer {
    const size = Math.max(1, Math.ceil(bytes / GRANULE_BYTES)) * GRANULE_BYTES;
    const reused = this.free.get(size)?.pop();
    if (reused) {
      reused.label = label;
      return reused;
    }
    const buffer = this.device.createBuffer({ label, size, usage: this.usage });
    this.all.add(buffer);
    return buffer;
  }

  /** Takes a buffer of this pool back. Work already submitted may still be using it: the queue keeps the order. */
  release(buffer: GPUBuffer): void {
    const list = this.free.get(buffer.size);
    if (list) list.push(buffer);
    else this.free.set(buffer.size, [buffer]);
  }

  /** Destroys all buffers, also those in use. */
  destroy(): void {
    for (const buffer of this.all) buffer.destroy();
    this.all.clear();
    this.free.clear();
  }
}
