// The clipped sequence objective of one agent (SAT.md section 4), forward and backward in one pass, to dlogits.
//   u_b     = sum over active t of log pi_tar(a_bt) - log pi_cur(a_bt)
//   obj_b   = min(e^u A_b, e^clip(u) A_b),  clip to [bandLow, bandHigh] = [log(1 - epsLow), log(1 + epsHigh)]
//   loss    = -(1/B) sum_b obj_b + beta sum_bt klWeight_bt KL(pi_tar || pi_cur)_bt
//   dlogits_btv = [-(1/B) slope_b (1[v = a] - p_v) + beta klWeight_bt p_v (d_v - sum p d)] / temperature
//   slope_b = e^u A_b where the plain branch is the smaller one, else 0; dlogits is exactly 0 at inactive steps.
// Shapes: logits, dlogits [B T, V] (logits bound by lib_softmax_pair.wgsl at 0 and 1); actions, acting, klWeight [B T];
// advantages [B]; summary [6 B + B T]: u, ratio, ratioClipped, objective, clipped 0/1, outside 0/1 (each [B]), KL [B T].
// clipped_objective_stats.wgsl unpacks `summary`; a single kernel would need more buffers than WebGPU guarantees.
// Reduction: one row of the strategy is one sequence: its steps are taken in turn, V is reduced by the strategy that V
// selects.

@group(0) @binding(2) var<storage, read> actions: array<i32>;
@group(0) @binding(3) var<storage, read> acting: array<i32>;
@group(0) @binding(4) var<storage, read> advantages: array<f32>;
@group(0) @binding(5) var<storage, read> klWeight: array<f32>;
@group(0) @binding(6) var<storage, read_write> summary: array<f32>;
@group(0) @binding(7) var<storage, read_write> dlogits: array<f32>;

struct Params {
  // B
  batch: u32,
  // T
  steps: u32,
  // V
  columns: u32,
  temperature: f32,
  beta: f32,
  bandLow: f32,
  bandHigh: f32,
}
@group(0) @binding(8) var<uniform> params: Params;

struct Surrogate {
  ratio: f32,
  ratioClipped: f32,
  objective: f32,
  // 1 where the clipped branch is strictly the smaller
  clipped: f32,
}

// log pi_tar(a) - log pi_cur(a): 0 if a is impossible under both, infinite if under one.
fn logRatio(row: Pair, base: u32, action: i32) -> f32 {
  if (action < 0 || u32(action) >= params.columns) {
    return MINUS_INFINITY;
  }
  let change = logTar(row, base + u32(action), params.temperature) - logCur(row, base + u32(action), params.temperature);
  if (change <= MASKED) {
    return MINUS_INFINITY;
  }
  return change;
}

fn surrogateOf(u: f32, advantage: f32) -> Surrogate {
  let ratio = expFinite(u);
  let ratioClipped = exp(clamp(u, params.bandLow, params.bandHigh));
  let plain = ratio * advantage;
  let bounded = ratioClipped * advantage;
  let clipped = bounded < plain;
  return Surrogate(ratio, ratioClipped, select(plain, bounded, clipped), select(0.0, 1.0, clipped));
}

fn writeSummary(b: u32, u: f32, acts: bool, value: Surrogate) {
  let batch = params.batch;
  summary[b] = u;
  summary[batch + b] = value.ratio;
  summary[2u * batch + b] = value.ratioClipped;
  summary[3u * batch + b] = select(0.0, value.objective, acts);
  summary[4u * batch + b] = select(0.0, value.clipped, acts);
  summary[5u * batch + b] = select(0.0, 1.0, acts && (u < params.bandLow || u > params.bandHigh));
}

// dlogits of one active step; `slope` is the derivative of the loss by u.
fn writeGradient(lane: u32, base: u32, action: i32, slope: f32, penalty: f32) {
  let row = softmaxPair(lane, base, params.columns, params.temperature);
  let divergence = divergenceOf(lane, base, params.columns, params.temperature, row, false);
  let klScale = select(penalty, 0.0, divergence.kl >= PLUS_INFINITY);
  for (var v = lane; v < params.columns; v += LANES) {
    let tar = logTar(row, base + v, params.temperature);
    var gradient = 0.0;
    if (tar > MASKED) {
      let p = exp(tar);
      gradient = slope * (select(0.0, 1.0, i32(v) == action) - p);
      if (klScale != 0.0) {
        gradient += klScale * p * (tar - logCur(row, base + v, params.temperature) - divergence.mean);
      }
    }
    dlogits[base + v] = gradient / params.temperature;
  }
}

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
  let lane = laneIndex(local);
  let klStart = 6u * params.batch;
  var u = 0.0;
  var acts = false;
  for (var t = 0u; t < params.steps; t++) {
    let n = b * params.steps + t;
    var kl = 0.0;
    if (acting[n] != 0) {
      acts = true;
      let base = n * params.columns;
      let row = softmaxPair(lane, base, params.columns, params.temperature);
      let change = logRatio(row, base, actions[n]);
      // A sequence that pi_tar cannot produce has ratio 0, whatever its other steps say.
      u = select(u + change, MINUS_INFINITY, u <= MASKED || change <= MASKED);
      kl = divergenceOf(lane, base, params.columns, params.temperature, row, false).kl;
    }
    if (lane == 0u) {
      summary[klStart + n] = kl;
    }
  }
  let value = surrogateOf(u, advantages[b]);
  if (lane == 0u) {
    writeSummary(b, u, acts, value);
  }
  let slope = select(-value.objective / f32(params.batch), 0.0, value.clipped != 0.0);
  for (var t = 0u; t < params.steps; t++) {
    let n = b * params.steps + t;
    if (acting[n] != 0) {
      writeGradient(lane, n * params.columns, actions[n], slope, params.beta * klWeight[n]);
    } else {
      for (var v = lane; v < params.columns; v += LANES) {
        dlogits[n * params.columns + v] = 0.0;
      }
    }
  }
}
