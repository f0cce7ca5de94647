// Second half of the global gradient norm: norm = sqrt(sum of the partial sums of squares).
// Shapes: partialSquares [count]; norm [1].
// Reduction: one workgroup, in lane order (lib_workgroup_per_row.wgsl).

@group(0) @binding(0) var<storage, read> partialSquares: array<f32>;
@group(0) @binding(1) var<storage, read_write> norm: array<f32>;

struct Params {
  count: u32,
}
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(WIDTH)
fn main(@builtin(local_invocation_index) lane: u32) {
  var sum = 0.0;
  for (var i = lane; i < params.count; i += LANES) {
    sum += partialSquares[i];
  }
  sum = rowSum(lane, sum);
  if (lane == 0u) {
    norm[0] = sqrt(sum);
  }
}
