// Exact order statistics of per-state divergences, for the (1 - alpha) quantile, with violations, largest and sum.
// Non-negative floats are ordered as their bits are, so a radix select over four 8-bit digits finds the value of rank
// `low`, and one more pass the next larger one: no sort, any N. The host interpolates in float64.
// Shapes: values, mask [N]; ranks [N + 1]: for every possible count of unmasked rows, 2 low + (1 if high = low + 1);
// result [7]: count, bits of x_low, bits of x_high, violations, bits of the largest, number of NaNs, bits of the sum.
// Values and threshold are float bits (nats); negative values count as 0. A violation is a value > threshold.
// Reduction: one workgroup; integer atomics, whose result does not depend on order; float sum in lane order
// (lib_workgroup_per_row.wgsl).

@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read> rowMask: array<i32>;
@group(0) @binding(2) var<storage, read> ranks: array<u32>;
@group(0) @binding(3) var<storage, read_write> result: array<u32>;

struct Params {
  // N
  size: u32,
  // 1: count only rows whose mask is not 0; 0: all rows
  masked: u32,
  // Bits of the largest float32 <= delta.
  threshold: u32,
}
@group(0) @binding(4) var<uniform> params: Params;

const DIGITS: u32 = 256u;
const INFINITY_BITS: u32 = 0x7f800000u;
const NOT_COUNTED: u32 = 0xffffffffu;

var<workgroup> histogram: array<atomic<u32>, 256>;
var<workgroup> counted: atomic<u32>;
var<workgroup> violations: atomic<u32>;
var<workgroup> notNumbers: atomic<u32>;
var<workgroup> largest: atomic<u32>;
var<workgroup> nextLarger: atomic<u32>;
var<workgroup> prefix: u32;
// Rank wanted among the values that share `prefix`.
var<workgroup> rank: u32;
// How many values equal the selected one.
var<workgroup> copies: u32;

// The sortable key of row i, or NOT_COUNTED for a masked row or a NaN.
fn keyOf(i: u32) -> u32 {
  let bits = values[i];
  if (params.masked != 0u && rowMask[i] == 0) {
    return NOT_COUNTED;
  }
  if ((bits & 0x7fffffffu) > INFINITY_BITS) {
    return NOT_COUNTED;
  }
  return select(bits, 0u, (bits >> 31u) != 0u);
}

fn isNotANumber(i: u32) -> bool {
  return (params.masked == 0u || rowMask[i] != 0) && (values[i] & 0x7fffffffu) > INFINITY_BITS;
}

fn tally(lane: u32) -> f32 {
  var sum = 0.0;
  for (var i = lane; i < params.size; i += LANES) {
    let key = keyOf(i);
    if (isNotANumber(i)) {
      atomicAdd(&notNumbers, 1u);
    }
    if (key != NOT_COUNTED) {
      atomicAdd(&counted, 1u);
      atomicAdd(&violations, select(0u, 1u, key > params.threshold));
      atomicMax(&largest, key);
      sum += min(bitcast<f32>(key), PLUS_INFINITY);
    }
  }
  return rowSum(lane, sum);
}

// Narrows `prefix` by the digit at `shift`, keeping the value of rank `rank` inside.
fn selectDigit(lane: u32, shift: u32) {
  for (var digit = lane; digit < DIGITS; digit += LANES) {
    atomicStore(&histogram[digit], 0u);
  }
  workgroupBarrier();
  for (var i = lane; i < params.size; i += LANES) {
    let key = keyOf(i);
    // Two shifts: one by 32 is not defined.
    if (key != NOT_COUNTED && ((key >> shift) >> 8u) == ((prefix >> shift) >> 8u)) {
      atomicAdd(&histogram[(key >> shift) & 255u], 1u);
    }
  }
  workgroupBarrier();
  if (lane == 0u) {
    var digit = 0u;
    var below = 0u;
    var here = atomicLoad(&histogram[0]);
    while (digit < DIGITS - 1u && below + here <= rank) {
      below += here;
      digit++;
      here = atomicLoad(&histogram[digit]);
    }
    prefix |= digit << shift;
    rank -= below;
    copies = here;
  }
  workgroupBarrier();
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(local_invocation_index) lane: u32) {
  if (lane == 0u) {
    atomicStore(&nextLarger, NOT_COUNTED);
  }
  workgroupBarrier();
  let sum = tally(lane);
  let packed = ranks[atomicLoad(&counted)];
  if (lane == 0u) {
    prefix = 0u;
    rank = packed >> 1u;
  }
  workgroupBarrier();
  selectDigit(lane, 24u);
  selectDigit(lane, 16u);
  selectDigit(lane, 8u);
  selectDigit(lane, 0u);
  let low = prefix;
  for (var i = lane; i < params.size; i += LANES) {
    let key = keyOf(i);
    if (key > low) {
      atomicMin(&nextLarger, key);
    }
  }
  workgroupBarrier();
  if (lane == 0u) {
    let nextIsLarger = (packed & 1u) != 0u && rank + 1u >= copies;
    result[0] = atomicLoad(&counted);
    result[1] = low;
    result[2] = select(low, atomicLoad(&nextLarger), nextIsLarger);
    result[3] = atomicLoad(&violations);
    result[4] = atomicLoad(&largest);
    result[5] = atomicLoad(&notNumbers);
    result[6] = bitcast<u32>(sum);
  }
}
