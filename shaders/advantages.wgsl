// Truncated-importance-weighted multi-step advantages (SAT.md section 3), backwards along each sequence.
//   delta_t = r_t + gamma V_{t+1} - V_t;  after the last step V is 0 if terminated, else the bootstrap values_{length}
//   retrace: A_t = delta_t + gamma lambda c_{t+1} A_{t+1}      vtrace: A_t = c_t (delta_t + gamma lambda A_{t+1})
//   sequence_b = sum_t A_t. Steps t >= lengths_b are padding: 0 in every output.
// Shapes: rewards, c, delta, advantage [B T]; values [B (T + 1)]; lengths, terminated, sequence [B].
// Reduction: a recurrence, so one thread a sequence (lib_thread_per_row.wgsl).

@group(0) @binding(0) var<storage, read> rewards: array<f32>;
@group(0) @binding(1) var<storage, read> values: array<f32>;
@group(0) @binding(2) var<storage, read> c: array<f32>;
@group(0) @binding(3) var<storage, read> lengths: array<i32>;
@group(0) @binding(4) var<storage, read> terminated: array<i32>;
@group(0) @binding(5) var<storage, read_write> delta: array<f32>;
@group(0) @binding(6) var<storage, read_write> advantage: array<f32>;
@group(0) @binding(7) var<storage, read_write> sequence: array<f32>;

struct Params {
  // B
  batch: u32,
  // T
  steps: u32,
  gamma: f32,
  // gamma lambda
  decay: f32,
  // 0: retrace; 1: vtrace
  vtrace: u32,
}
@group(0) @binding(8) var<uniform> params: Params;

@compute @workgroup_size(WIDTH)
fn main(
  @builtin(workgroup_id) block: vec3u,
  @builtin(num_workgroups) blocks: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let b = rowIndex(block, blocks, local);
  if (b >= params.batch) {
    return;
  }
  let steps = params.steps;
  let length = u32(clamp(lengths[b], 0, i32(steps)));
  for (var t = length; t < steps; t++) {
    delta[b * steps + t] = 0.0;
    advantage[b * steps + t] = 0.0;
  }
  var nextAdvantage = 0.0;
  var nextC = 0.0;
  var total = 0.0;
  for (var back = 0u; back < length; back++) {
    let t = length - 1u - back;
    let n = b * steps + t;
    let value = b * (steps + 1u) + t;
    let ended = back == 0u && terminated[b] != 0;
    let error = rewards[n] + params.gamma * select(values[value + 1u], 0.0, ended) - values[value];
    let trace = select(error + params.decay * nextC * nextAdvantage, c[n] * (error + params.decay * nextAdvantage), params.vtrace != 0u);
    delta[n] = error;
    advantage[n] = trace;
    total += trace;
    nextAdvantage = trace;
    nextC = c[n];
  }
  sequence[b] = total;
}
