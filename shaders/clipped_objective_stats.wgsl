// Unpacks the summary of clipped_objective.wgsl into its tensors and reduces it to five scalars.
//   stats = [mean_objective, mean_kl, loss, clip_fraction, outside_fraction]
//   mean_objective = (1/B) sum_b obj_b;  mean_kl = sum_bt klWeight_bt KL_bt;  loss = beta mean_kl - mean_objective
// Shapes: summary [6 B + B T] as in clipped_objective.wgsl; klWeight, kl [B T]; u, ratio, ratioClipped, objective [B];
// stats [5]. A klWeight of 0 leaves out an infinite KL.
// Reduction: one workgroup for everything (lib_workgroup_per_row.wgsl), fixed order, no atomics.

@group(0) @binding(0) var<storage, read> summary: array<f32>;
@group(0) @binding(1) var<storage, read> klWeight: array<f32>;
@group(0) @binding(2) var<storage, read_write> u: array<f32>;
@group(0) @binding(3) var<storage, read_write> ratio: array<f32>;
@group(0) @binding(4) var<storage, read_write> ratioClipped: array<f32>;
@group(0) @binding(5) var<storage, read_write> objective: array<f32>;
@group(0) @binding(6) var<storage, read_write> kl: array<f32>;
@group(0) @binding(7) var<storage, read_write> stats: array<f32>;

struct Params {
  // B
  batch: u32,
  // B T
  rows: u32,
  beta: f32,
}
@group(0) @binding(8) var<uniform> params: Params;

@compute @workgroup_size(WIDTH)
fn main(@builtin(local_invocation_index) lane: u32) {
  let batch = params.batch;
  var objectiveSum = 0.0;
  var clipped = 0.0;
  var outside = 0.0;
  for (var b = lane; b < batch; b += LANES) {
    u[b] = summary[b];
    ratio[b] = summary[batch + b];
    ratioClipped[b] = summary[2u * batch + b];
    objective[b] = summary[3u * batch + b];
    objectiveSum += summary[3u * batch + b];
    clipped += summary[4u * batch + b];
    outside += summary[5u * batch + b];
  }
  var klSum = 0.0;
  for (var n = lane; n < params.rows; n += LANES) {
    let value = summary[6u * batch + n];
    kl[n] = value;
    if (klWeight[n] != 0.0) {
      klSum += klWeight[n] * value;
    }
  }
  let count = f32(max(batch, 1u));
  let meanObjective = rowSum(lane, objectiveSum) / count;
  let meanKl = rowSum(lane, klSum);
  let clipFraction = rowSum(lane, clipped) / count;
  let outsideFraction = rowSum(lane, outside) / count;
  if (lane == 0u) {
    stats[0] = meanObjective;
    stats[1] = meanKl;
    stats[2] = params.beta * meanKl - meanObjective;
    stats[3] = clipFraction;
    stats[4] = outsideFraction;
  }
}
