// Exact KL divergence of two policies over the whole vocabulary, row by row, and its gradient by pi_tar's logits.
//   tar-cur: KL_n = KL(pi_tar || pi_cur);  grad_nv = w_n p_v (d_v - sum p d) / temperature,  d = log pi_tar - log pi_cur
//   cur-tar: KL_n = KL(pi_cur || pi_tar);  grad_nv = w_n (pi_tar(v) - pi_cur(v)) / temperature
// Shapes: logits [N, V] (bound by lib_softmax_pair.wgsl at 0 and 1); weight, kl [N]; grad [N, V]. KL in nats.
// grad is 0 at logits masked under pi_tar, and in rows whose KL is infinite.
// Reduction: rows are reduced by the strategy that V selects.

@group(0) @binding(2) var<storage, read_write> kl: array<f32>;
@group(0) @binding(3) var<storage, read> weight: array<f32>;
@group(0) @binding(4) var<storage, read_write> grad: array<f32>;

struct Params {
  // N
  rows: u32,
  // V
  columns: u32,
  temperature: f32,
  // 0: KL(tar || cur); 1: KL(cur || tar)
  reversed: u32,
}
@group(0) @binding(5) var<uniform> params: Params;

@compute @workgroup_size(WIDTH)
fn divergence(
  @builtin(workgroup_id) block: vec3u,
  @builtin(num_workgroups) blocks: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = rowIndex(block, blocks, local);
  if (n >= params.rows) {
    return;
  }
  let lane = laneIndex(local);
  let base = n * params.columns;
  let row = softmaxPair(lane, base, params.columns, params.temperature);
  let value = divergenceOf(lane, base, params.columns, params.temperature, row, params.reversed != 0u);
  if (lane == 0u) {
    kl[n] = value.kl;
  }
}

// pi_tar(v) - pi_cur(v), without the cancellation for close policies.
fn probabilityChange(tar: f32, cur: f32) -> f32 {
  let d = tar - cur;
  if (cur > MASKED && abs(d) < 0.25) {
    return exp(cur) * d * (1.0 + d / 2.0 * (1.0 + d / 3.0 * (1.0 + d / 4.0 * (1.0 + d / 5.0 * (1.0 + d / 6.0)))));
  }
  return exp(tar) - exp(cur);
}

@compute @workgroup_size(WIDTH)
fn divergenceAndGradient(
  @builtin(workgroup_id) block: vec3u,
  @builtin(num_workgroups) blocks: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = rowIndex(block, blocks, local);
  if (n >= params.rows) {
    return;
  }
  let lane = laneIndex(local);
  let base = n * params.columns;
  let row = softmaxPair(lane, base, params.columns, params.temperature);
  let value = divergenceOf(lane, base, params.columns, params.temperature, row, params.reversed != 0u);
  if (lane == 0u) {
    kl[n] = value.kl;
  }
  let scale = select(weight[n] / params.temperature, 0.0, value.kl >= PLUS_INFINITY);
  for (var v = lane; v < params.columns; v += LANES) {
    let tar = logTar(row, base + v, params.temperature);
    let cur = logCur(row, base + v, params.temperature);
    var slope = 0.0;
    if (tar > MASKED && scale != 0.0) {
      if (params.reversed != 0u) {
        slope = probabilityChange(tar, cur);
      } else {
        slope = exp(tar) * (tar - cur - value.mean);
      }
    }
    grad[base + v] = scale * slope;
  }
}
