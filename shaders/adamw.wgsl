// One step of AdamW with decoupled weight decay (Loshchilov & Hutter, 1711.05101) on one parameter tensor, in place.
//   m <- beta1 m + (1 - beta1) g;  v <- beta2 v + (1 - beta2) g^2
//   p <- p (1 - lr wd) - stepSize m / (sqrt(v) / correction2 + eps)
//   stepSize = lr / (1 - beta1^t),  correction2 = sqrt(1 - beta2^t): computed by the host in float64.
// Shapes: weights (p), grad, m, v [size].
// Reduction: none, one thread an element (lib_thread_per_row.wgsl).

@group(0) @binding(0) var<storage, read> grad: array<f32>;
@group(0) @binding(1) var<storage, read_write> weights: array<f32>;
@group(0) @binding(2) var<storage, read_write> m: array<f32>;
@group(0) @binding(3) var<storage, read_write> v: array<f32>;

struct Params {
  size: u32,
  beta1: f32,
  // 1 - beta1
  rate1: f32,
  beta2: f32,
  // 1 - beta2
  rate2: f32,
  // 1 - lr wd
  keep: f32,
  stepSize: f32,
  correction2: f32,
  eps: f32,
}
@group(0) @binding(4) var<uniform> params: Params;

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
  let g = grad[i];
  let first = params.beta1 * m[i] + params.rate1 * g;
  let second = params.beta2 * v[i] + params.rate2 * g * g;
  m[i] = first;
  v[i] = second;
  weights[i] = weights[i] * params.keep - params.stepSize * first / (sqrt(second) / params.correction2 + params.eps);
}
