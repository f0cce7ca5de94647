// First half of the global gradient norm: partial sums of squares of one gradient tensor.
//   partial_{offset + i} = sum over k of grad_{i + k threads}^2,  i < threads
// Shapes: grad [size]; partialSquares: a stretch of `threads` numbers a tensor.
// Reduction: strided sums, one thread a partial (lib_thread_per_row.wgsl); grad_norm.wgsl adds them up.

@group(0) @binding(0) var<storage, read> grad: array<f32>;
@group(0) @binding(1) var<storage, read_write> partialSquares: array<f32>;

struct Params {
  size: u32,
  // Number of partial sums of this tensor.
  threads: u32,
  // Where they go.
  offset: u32,
}
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(WIDTH)
fn main(
  @builtin(workgroup_id) block: vec3u,
  @builtin(num_workgroups) blocks: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = rowIndex(block, blocks, local);
  if (thread >= params.threads) {
    return;
  }
  var sum = 0.0;
  for (var i = thread; i < params.size; i += params.threads) {
    sum += grad[i] * grad[i];
  }
  partialSquares[params.offset + thread] = sum;
}
