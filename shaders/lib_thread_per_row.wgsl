// Reduction strategy "thread": one thread works through a whole row alone. No barriers, so the fastest choice while
// rows are short. Shares its function names with lib_workgroup_per_row.wgsl; a kernel is compiled with one of the two.

// Threads in a workgroup: as many rows.
override WIDTH: u32;
// Threads that share a row.
const LANES: u32 = 1u;

fn rowIndex(block: vec3u, blocks: vec3u, local: u32) -> u32 {
  return (block.y * blocks.x + block.x) * WIDTH + local;
}

fn laneIndex(local: u32) -> u32 {
  return 0u;
}

fn rowSum(lane: u32, x: f32) -> f32 {
  return x;
}

fn rowMax(lane: u32, x: f32) -> f32 {
  return x;
}

// Sum over the lanes before this one.
fn rowSumBefore(lane: u32, x: f32) -> f32 {
  return 0.0;
}
