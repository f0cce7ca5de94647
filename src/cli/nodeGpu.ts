/** WebGPU in Node, by Dawn: for the headless command and the kernel tests. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { create } from 'webgpu';
import type { Shaders } from '../kernels/webgpu/wgsl.ts';

/** Chromium's software Vulkan driver, used where no other is configured. */
const SOFTWARE_ICD = '/usr/lib/chromium/vk_swiftshader_icd.json';

export interface NodeGpu {
  readonly device: GPUDevice;
  /** Adapter in words, e.g. `SwiftShader driver 5.0.0 (google)`. */
  readonly description: string;
  /** True for a software adapter. */
  readonly isFallbackAdapter: boolean;
  /** Destroys the device with everything on it. */
  dispose(): void;
}

/** Vulkan's loader reads these when Dawn starts. */
function prepareVulkan(): void {
  const configured = process.env.VK_ICD_FILENAMES ?? process.env.VK_DRIVER_FILES;
  if (!configured && existsSync(SOFTWARE_ICD)) process.env.VK_ICD_FILENAMES = SOFTWARE_ICD;
  process.env.XDG_RUNTIME_DIR ??= tmpdir();
}

/** A device with the adapter's limits on buffer sizes. Throws one error that says what to install if there is none. */
export async function createNodeGpuDevice(): Promise<NodeGpu> {
  prepareVulkan();
  const gpu = create([]);
  const adapter = await gpu.requestAdapter().catch(() => null);
  if (!adapter) {
    const icd = process.env.VK_ICD_FILENAMES ?? process.env.VK_DRIVER_FILES ?? 'not set';
    throw new Error(
      `no WebGPU adapter in Node: install libvulkan1 and a Vulkan driver, and point VK_ICD_FILENAMES at the driver's ` +
        `ICD file, e.g. ${SOFTWARE_ICD} of the chromium package (VK_ICD_FILENAMES is ${icd})`,
    );
  }
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
  const device = await adapter.requestDevice({
    label: 'sat',
    requiredLimits: { maxBufferSize, maxStorageBufferBindingSize },
  });
  const { description, device: name, vendor, isFallbackAdapter } = adapter.info;
  return {
    device,
    description: `${description || name || 'unnamed adapter'} (${vendor || 'unknown vendor'})`,
    isFallbackAdapter,
    dispose() {
      device.destroy();
      // Dawn's instance must outlive its devices.
      void gpu;
    },
  };
}

/** The WGSL sources in `shaders/`, by file name without `.wgsl`. */
export function loadShaders(): Shaders {
  const folder = new URL('../../shaders/', import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith('.wgsl'));
  return Object.fromEntries(
    names.map((name) => [name.slice(0, -'.wgsl'.length), readFileSync(new URL(name, folder), 'utf8')]),
  );
}
