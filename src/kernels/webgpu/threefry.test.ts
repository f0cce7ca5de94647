import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadShaders, sharedDevice } from '../../../test/support/lanes.ts';
import { deriveKey, threefry2x32 } from '../rng.ts';
import { USAGE } from './bufferPool.ts';
import { compileModule } from './programs.ts';
import { programSource } from './wgsl.ts';

/** The words of the WGSL generator for pairs of keys and counters, two u32 each. */
async function wordsOnGpu(
  keys: Uint32Array<ArrayBuffer>,
  counters: Uint32Array<ArrayBuffer>,
): Promise<Uint32Array> {
  const { device } = await sharedDevice();
  const path = new URL('../../../test/support/threefry_words.wgsl', import.meta.url);
  const shaders = { ...loadShaders(), threefry_words: readFileSync(path, 'utf8') };
  const source = programSource(['lib_thread_per_row', 'lib_threefry', 'threefry_words'], shaders);
  const module = await compileModule(device, 'threefry_words', source);
  const constants = { WIDTH: 64 };
  const pipeline = await device.createComputePipelineAsync({
    layout: 'auto',
    compute: { module, constants },
  });
  const usage = USAGE.STORAGE | USAGE.COPY_DST | USAGE.COPY_SRC;
  const size = keys.byteLength;
  const buffers = ['keys', 'counters', 'words'].map((label) => device.createBuffer({ label, size, usage }));
  device.queue.writeBuffer(buffers[0]!, 0, keys);
  device.queue.writeBuffer(buffers[1]!, 0, counters);
  const staging = device.createBuffer({ label: 'staging', size, usage: USAGE.MAP_READ | USAGE.COPY_DST });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
  pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
  pass.dispatchWorkgroups(Math.ceil(keys.length / 2 / constants.WIDTH));
  pass.end();
  encoder.copyBufferToBuffer(buffers[2]!, 0, staging, 0, size);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(1);
  const words = new Uint32Array(staging.getMappedRange().slice(0));
  for (const buffer of [...buffers, staging]) buffer.destroy();
  return words;
}

test('the WGSL generator gives the known answers of Random123', async () => {
  const keys = Uint32Array.of(0, 0, 0xffffffff, 0xffffffff, 0x13198a2e, 0x03707344);
  const counters = Uint32Array.of(0, 0, 0xffffffff, 0xffffffff, 0x243f6a88, 0x85a308d3);
  const words = await wordsOnGpu(keys, counters);
  expect([...words]).toEqual([0x6b200159, 0x99ba4efe, 0x1cb996fc, 0xbb002be7, 0xc4923a9c, 0x483df7a0]);
});

test('20000 counters under 200 keys: the same bits as in TypeScript', async () => {
  const count = 20_000;
  const keys = new Uint32Array(2 * count);
  const counters = new Uint32Array(2 * count);
  const expected = new Uint32Array(2 * count);
  for (let i = 0; i < count; i++) {
    const key = deriveKey(i % 200, 'actions', i % 7);
    const counter = [(i * 2654435761) >>> 0, i % 3] as const;
    keys.set(key, 2 * i);
    counters.set(counter, 2 * i);
    expected.set(threefry2x32(key, counter), 2 * i);
  }
  expect(await wordsOnGpu(keys, counters)).toEqual(expected);
});
