// Scales one gradient tensor to the clipped global norm: grad *= min(1, maxNorm / (norm + 1e-6)).
// Shapes: norm [1]; grad [size], in place.
// Reduction: none, one thread an element (lib_thread_per_row.wgsl).

@group(0) @binding(0) var<storage, read> norm: array<f32>;
@group(0) @binding(1) var<storage, read_write> grad: array<f32>;

struct Params {
  size: u32,
  maxNorm: f32,
}
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(WIDTH)
fn main(
  @builtin(workgroup_id) block: vec3u,
  @builtin(num_workgroups) blocks: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = rowIndex(block, blocks, local);
  if (i >= params.size) {
    return;
  }
  grad[i] *= min(1.0, params.maxNorm / (norm[0] + 1e-6));
}
