// Sums rows into a table, the transpose of gather_rows.wgsl: sums_sv = sum over n with index_n = s of values_nv.
// Shapes: values [N, V]; index [N]; sums [S, V].
// Reduction: one thread an element of the table (lib_thread_per_row.wgsl) walks the index in order of n: no float
// atomics, so the same bits on every run.

@group(0) @binding(0) var<storage, read> values: array<f32>;
@group(0) @binding(1) var<storage, read> index: array<i32>;
@group(0) @binding(2) var<storage, read_write> sums: array<f32>;

struct Params {
  // S V
  size: u32,
  // V
  columns: u32,
  // N
  rows: u32,
}
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(WIDTH)
fn main(
  @builtin(workgroup_id) block: vec3u,
  @builtin(num_workgroups) blocks: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let element = rowIndex(block, blocks, local);
  if (element >= params.size) {
    return;
  }
  let row = i32(element / params.columns);
  let column = element % params.columns;
  var sum = 0.0;
  for (var n = 0u; n < params.rows; n++) {
    if (index[n] == row) {
      sum += values[n * params.columns + column];
    }
  }
  sums[element] = sum;
}
