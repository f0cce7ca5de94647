// Reduction strategy "workgroup": the WIDTH threads of a workgroup share one row; each takes every WIDTH-th column.
// To combine, every lane folds all partial results itself, in lane order: two barriers a reduction, the same bits in
// every lane and on every run.

// Threads in a workgroup, and in a row.
override WIDTH: u32;
override LANES: u32 = WIDTH;

var<workgroup> partials: array<f32, WIDTH>;

fn rowIndex(block: vec3u, blocks: vec3u, local: u32) -> u32 {
  return block.y * blocks.x + block.x;
}

fn laneIndex(local: u32) -> u32 {
  return local;
}

fn rowSum(lane: u32, x: f32) -> f32 {
  partials[lane] = x;
  workgroupBarrier();
  var total = 0.0;
  for (var i = 0u; i < WIDTH; i++) {
    total += partials[i];
  }
  workgroupBarrier();
  return total;
}

fn rowMax(lane: u32, x: f32) -> f32 {
  partials[lane] = x;
  workgroupBarrier();
  var largest = partials[0];
  for (var i = 1u; i < WIDTH; i++) {
    largest = max(largest, partials[i]);
  }
  workgroupBarrier();
  return largest;
}

// Sum over the lanes before this one.
fn rowSumBefore(lane: u32, x: f32) -> f32 {
  partials[lane] = x;
  workgroupBarrier();
  var total = 0.0;
  for (var i = 0u; i < lane; i++) {
    total += partials[i];
  }
  workgroupBarrier();
  return total;
}
