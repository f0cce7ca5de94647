// Importance ratios of the intermediate policy against the one that collected the data.
//   rho_bt = exp(logp_hat_bt - logp_cur_bt),  c_bt = min(1, rho_bt);  both 0 at padding, t >= lengths_b
// Shapes: logpHat, logpCur, rho, c [B T]; lengths [B]. Log-probabilities in nats.
// Reduction: none, one thread an element (lib_thread_per_row.wgsl).

@group(0) @binding(0) var<storage, read> logpHat: array<f32>;
@group(0) @binding(1) var<storage, read> logpCur: array<f32>;
@group(0) @binding(2) var<storage, read> lengths: array<i32>;
@group(0) @binding(3) var<storage, read_write> rho: array<f32>;
@group(0) @binding(4) var<storage, read_write> c: array<f32>;

struct Params {
  // B T
  size: u32,
  // T
  steps: u32,
}
@group(0) @binding(5) var<uniform> params: Params;

@compute @workgroup_size(WIDTH)
fn main(
  @builtin(workgroup_id) block: vec3u,
  @builtin(num_workgroups) blocks: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = rowIndex(block, blocks, local);
  if (n >= params.size) {
    return;
  }
  var ratio = 0.0;
  if (i32(n % params.steps) < lengths[n / params.steps]) {
    ratio = expFinite(logpHat[n] - logpCur[n]);
  }
  rho[n] = ratio;
  c[n] = min(ratio, 1.0);
}
