// Normalises values within groups: (x - mean) / (std + eps), population std, then clips to [-clip, clip].
// A group whose values are all equal gives exactly 0: decided by comparing values, not by a rounded std.
// Shapes: values, group (arbitrary ids), normalised, clipped [B].
// Reduction: one thread an element (lib_thread_per_row.wgsl), which walks the batch in order; members of one group see
// the same numbers in the same order, so they agree on mean and std bit for bit.

@group(0) @binding(0) var<storage, read> values: array<f32>;
@group(0) @binding(1) var<storage, read> ids: array<i32>;
@group(0) @binding(2) var<storage, read_write> normalised: array<f32>;
@group(0) @binding(3) var<storage, read_write> clipped: array<f32>;

struct Params {
  // B
  size: u32,
  eps: f32,
  clip: f32,
}
@group(0) @binding(4) var<uniform> params: Params;

// Mean of the group of element n, as an offset from `origin`, a member; and whether all members equal it.
struct Centre {
  offset: f32,
  count: f32,
  flat: bool,
}

fn centreOf(id: i32, origin: f32) -> Centre {
  var sum = 0.0;
  var count = 0.0;
  var flat = true;
  for (var i = 0u; i < params.size; i++) {
    if (ids[i] == id) {
      sum += values[i] - origin;
      count += 1.0;
      flat = flat && values[i] == origin;
    }
  }
  return Centre(sum / count, count, flat);
}

fn firstOf(id: i32) -> f32 {
  for (var i = 0u; i < params.size; i++) {
    if (ids[i] == id) {
      return values[i];
    }
  }
  return 0.0;
}

// Population std; deviations are scaled by the largest, so that squares neither underflow nor overflow.
fn deviationOf(id: i32, origin: f32, centre: Centre) -> f32 {
  var largest = 0.0;
  for (var i = 0u; i < params.size; i++) {
    if (ids[i] == id) {
      largest = max(largest, abs(values[i] - origin - centre.offset));
    }
  }
  var squares = 0.0;
  for (var i = 0u; i < params.size; i++) {
    if (ids[i] == id) {
      let scaled = (values[i] - origin - centre.offset) / largest;
      squares += scaled * scaled;
    }
  }
  return largest * sqrt(squares / centre.count);
}

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
  let origin = firstOf(ids[n]);
  let centre = centreOf(ids[n], origin);
  var result = 0.0;
  if (!centre.flat) {
    let deviation = deviationOf(ids[n], origin, centre);
    result = (values[n] - origin - centre.offset) / (deviation + params.eps);
  }
  normalised[n] = result;
  clipped[n] = clamp(result, -params.clip, params.clip);
}
