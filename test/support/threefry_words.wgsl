// Test kernel: the raw words of lib_threefry.wgsl, words_i = threefry2x32(key_i, counter_i).
// Shapes: keys, counters, words [N] of vec2u. Needs lib_threefry.wgsl and lib_thread_per_row.wgsl.

@group(0) @binding(0) var<storage, read> keys: array<vec2u>;
@group(0) @binding(1) var<storage, read> counters: array<vec2u>;
@group(0) @binding(2) var<storage, read_write> words: array<vec2u>;

@compute @workgroup_size(WIDTH)
fn main(
  @builtin(workgroup_id) block: vec3u,
  @builtin(num_workgroups) blocks: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = rowIndex(block, blocks, local);
  if (i >= arrayLength(&keys)) {
    return;
  }
  words[i] = threefry2x32(keys[i], counters[i]);
}
