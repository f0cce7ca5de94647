// Draws one action a row from softmax(logits / temperature), optionally from its nucleus only.
//   uniform_n = threefry2x32(key, [firstCounter + n, 0])[0] as a 24-bit fraction
//   action_n  = first v, in index order, whose cumulative kept probability exceeds uniform_n * (kept mass)
// Nucleus: the fewest most likely actions with mass >= topP; equal logits enter by lower index. Its edge is found by
// bisection over the logits' bits, ordered as the numbers are: 32 sums over the row, no sort.
// Shapes: logits [N, V] (bound by lib_softmax.wgsl at 0); actions, logProb [N]. logProb is of the untruncated policy.
// A row without a possible action gives -1 and MINUS_INFINITY; a masked action is never drawn.
// Reduction: normalisers by the strategy that V selects; for the cumulative sums each lane owns a stretch of columns.
// Needs lib_threefry.wgsl.

@group(0) @binding(1) var<storage, read_write> actions: array<i32>;
@group(0) @binding(2) var<storage, read_write> logProb: array<f32>;

struct Params {
  // N
  rows: u32,
  // V
  columns: u32,
  temperature: f32,
  // In (0, 1]; 1 keeps every possible action.
  topP: f32,
  // Mass this close to topP counts as reached, so that rounding adds no action.
  slack: f32,
  keyLow: u32,
  keyHigh: u32,
  firstCounter: u32,
}
@group(0) @binding(3) var<uniform> params: Params;

// What is kept: logits with order > edge, and the first `ties` of those equal to it.
struct Nucleus {
  edge: u32,
  ties: f32,
}

// Columns [first, end) of a lane.
struct Stretch {
  first: u32,
  end: u32,
}

fn stretchOf(lane: u32) -> Stretch {
  let length = (params.columns + LANES - 1u) / LANES;
  let first = min(lane * length, params.columns);
  return Stretch(first, min(first + length, params.columns));
}

// A u32 that orders as the float does.
fn orderOf(logit: f32) -> u32 {
  let bits = bitcast<u32>(logit);
  return select(bits | 0x80000000u, ~bits, (bits >> 31u) != 0u);
}

// Probability of column v if its logit's order is at least `edge`, else 0.
fn keptMass(row: Softmax, index: u32, edge: u32) -> f32 {
  if (orderOf(logits[index]) < edge) {
    return 0.0;
  }
  return exp(logProbability(row, index, params.temperature));
}

fn massFrom(lane: u32, row: Softmax, base: u32, edge: u32) -> f32 {
  var mass = 0.0;
  for (var v = lane; v < params.columns; v += LANES) {
    mass += keptMass(row, base + v, edge);
  }
  return rowSum(lane, mass);
}

fn nucleusOf(lane: u32, row: Softmax, base: u32) -> Nucleus {
  let wanted = params.topP - params.slack;
  var edge = 0u;
  for (var bit = 32u; bit > 0u; bit--) {
    let trial = edge | (1u << (bit - 1u));
    if (massFrom(lane, row, base, trial) >= wanted) {
      edge = trial;
    }
  }
  let above = massFrom(lane, row, base, edge + 1u);
  var each = 0.0;
  for (var v = lane; v < params.columns; v += LANES) {
    if (orderOf(logits[base + v]) == edge) {
      each = keptMass(row, base + v, edge);
    }
  }
  each = rowMax(lane, each);
  return Nucleus(edge, max(ceil((wanted - above) / max(each, 1e-30)), 1.0));
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
  var nucleus = Nucleus(0u, 0.0);
  if (params.topP < 1.0) {
    nucleus = nucleusOf(lane, row, base);
  }

  let stretch = stretchOf(lane);
  var equal = 0.0;
  for (var v = stretch.first; v < stretch.end; v++) {
    equal += select(0.0, 1.0, orderOf(logits[base + v]) == nucleus.edge);
  }
  let equalBefore = rowSumBefore(lane, equal);
  var mass = 0.0;
  var seen = equalBefore;
  for (var v = stretch.first; v < stretch.end; v++) {
    let tie = orderOf(logits[base + v]) == nucleus.edge;
    mass += select(keptMass(row, base + v, nucleus.edge), 0.0, tie && seen >= nucleus.ties);
    seen += select(0.0, 1.0, tie);
  }
  let before = rowSumBefore(lane, mass);
  let word = threefry2x32(vec2u(params.keyLow, params.keyHigh), vec2u(params.firstCounter + n, 0u)).x;
  let goal = uniformFromBits(word) * rowSum(lane, mass);

  // Column indices are exact in float32 up to 2^24.
  var hit = f32(params.columns);
  var lastKept = -1.0;
  var cumulative = before;
  seen = equalBefore;
  for (var v = stretch.first; v < stretch.end; v++) {
    let tie = orderOf(logits[base + v]) == nucleus.edge;
    let p = select(keptMass(row, base + v, nucleus.edge), 0.0, tie && seen >= nucleus.ties);
    seen += select(0.0, 1.0, tie);
    if (p > 0.0) {
      cumulative += p;
      lastKept = f32(v);
      if (cumulative > goal) {
        hit = min(hit, f32(v));
      }
    }
  }
  hit = -rowMax(lane, -hit);
  lastKept = rowMax(lane, lastKept);
  if (lane == 0u) {
    // Rounding can leave the goal just beyond the last cumulative sum.
    let action = select(i32(hit), i32(lastKept), hit >= f32(params.columns));
    actions[n] = action;
    logProb[n] = MINUS_INFINITY;
    if (action >= 0) {
      logProb[n] = logProbability(row, base + u32(action), params.temperature);
    }
  }
}
