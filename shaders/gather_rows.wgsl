// Looks rows up in a table: gathered_nv = table_{index_n, v}; 0 where the index is outside the table.
// Shapes: table [S, V]; index [N]; gathered [N, V].
// Reduction: none, one thread an element (lib_thread_per_row.wgsl).

@group(0) @binding(0) var<storage, read> table: array<f32>;
@group(0) @binding(1) var<storage, read> index: array<i32>;
@group(0) @binding(2) var<storage, read_write> gathered: array<f32>;

struct Params {
  // N V
  size: u32,
  // V
  columns: u32,
  // S
  tableRows: u32,
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
  let row = index[element / params.columns];
  var value = 0.0;
  if (row >= 0 && u32(row) < params.tableRows) {
    value = table[u32(row) * params.columns + element % params.columns];
  }
  gathered[element] = value;
}
