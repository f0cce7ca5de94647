// log softmax of one row of logits / temperature, for the kernels that read one policy.
// log p(v) = (logit_v - top) / temperature - logSum, logSum = log sum_v exp((logit_v - top) / temperature) in [0, log V].
// Needs lib_numbers.wgsl and one of the row strategies.

// [N, V] raw logits.
@group(0) @binding(0) var<storage, read> logits: array<f32>;

struct Softmax {
  // Largest logit of the row; MASKED or below if no action is possible.
  top: f32,
  logSum: f32,
}

fn softmaxOf(lane: u32, base: u32, columns: u32, temperature: f32) -> Softmax {
  var top = MINUS_INFINITY;
  for (var v = lane; v < columns; v += LANES) {
    top = max(top, logits[base + v]);
  }
  top = rowMax(lane, top);
  var sum = 0.0;
  for (var v = lane; v < columns; v += LANES) {
    let logit = logits[base + v];
    if (logit > MASKED) {
      sum += exp((logit - top) / temperature);
    }
  }
  sum = rowSum(lane, sum);
  return Softmax(top, log(max(sum, 1.0)));
}

fn logProbability(row: Softmax, index: u32, temperature: f32) -> f32 {
  let logit = logits[index];
  if (logit <= MASKED) {
    return MINUS_INFINITY;
  }
  return (logit - row.top) / temperature - row.logSum;
}
