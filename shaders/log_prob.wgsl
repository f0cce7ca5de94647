// Log-probability of given actions, logsumexp and entropy of softmax(logits / temperature), row by row.
//   log_prob_n  = z_a - logsumexp(z),   z = logits_n / temperature
//   logsumexp_n = max z + log sum_v exp(z_v - max z)
//   entropy_n   = -sum_v p_v log p_v, with 0 log 0 = 0                                  (nats)
// Shapes: logits [N, V]; actions, log_prob, logsumexp, entropy [N].
// Masked logits (<= MASKED) have probability 0; an impossible or out-of-range action has log_prob MINUS_INFINITY.
// Reduction: rows are reduced by the strategy that V selects. Needs lib_softmax.wgsl (which binds `logits` at 0).

@group(0) @binding(1) var<storage, read> actions: array<i32>;
@group(0) @binding(2) var<storage, read_write> logProb: array<f32>;
@group(0) @binding(3) var<storage, read_write> logsumexp: array<f32>;
@group(0) @binding(4) var<storage, read_write> entropy: array<f32>;

struct Params {
  // N
  rows: u32,
  // V
  columns: u32,
  temperature: f32,
}
@group(0) @binding(5) var<uniform> params: Params;

fn logProbOfAction(row: Softmax, base: u32, action: i32) -> f32 {
  if (action < 0 || u32(action) >= params.columns) {
    return MINUS_INFINITY;
  }
  return logProbability(row, base + u32(action), params.temperature);
}

@compute @workgroup_size(WIDTH)
fn main(
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
  let row = softmaxOf(lane, base, params.columns, params.temperature);
  var plogp = 0.0;
  for (var v = lane; v < params.columns; v += LANES) {
    let logp = logProbability(row, base + v, params.temperature);
    if (logp > MASKED) {
      plogp += exp(logp) * logp;
    }
  }
  plogp = rowSum(lane, plogp);
  if (lane == 0u) {
    logProb[n] = logProbOfAction(row, base, actions[n]);
    logsumexp[n] = select(row.top / params.temperature + row.logSum, MINUS_INFINITY, row.top <= MASKED);
    entropy[n] = max(-plogp, 0.0);
  }
}
