// log softmax of the same row under two policies, and their divergence:
// KL(p || q) = sum_v [p d + q - p], d = log p - log q. The q - p adds up to 0 over the row; it makes every term >= 0 and
// cancels first-order rounding in the normalisers, so small divergences keep their digits in float32.
// Needs lib_numbers.wgsl and one of the row strategies.

// [N, V] raw logits of pi_tar and of pi_cur.
@group(0) @binding(0) var<storage, read> logitsTar: array<f32>;
@group(0) @binding(1) var<storage, read> logitsCur: array<f32>;

struct Pair {
  topTar: f32,
  logSumTar: f32,
  topCur: f32,
  logSumCur: f32,
}

struct Divergence {
  // Nats, >= 0; PLUS_INFINITY where p has mass on an action impossible under q.
  kl: f32,
  // sum_v p d: the same number up to rounding, the right centre for the gradient.
  mean: f32,
}

fn softmaxPair(lane: u32, base: u32, columns: u32, temperature: f32) -> Pair {
  var topTar = MINUS_INFINITY;
  var topCur = MINUS_INFINITY;
  for (var v = lane; v < columns; v += LANES) {
    topTar = max(topTar, logitsTar[base + v]);
    topCur = max(topCur, logitsCur[base + v]);
  }
  topTar = rowMax(lane, topTar);
  topCur = rowMax(lane, topCur);
  var sumTar = 0.0;
  var sumCur = 0.0;
  for (var v = lane; v < columns; v += LANES) {
    sumTar += shiftedExp(logitsTar[base + v], topTar, temperature);
    sumCur += shiftedExp(logitsCur[base + v], topCur, temperature);
  }
  sumTar = rowSum(lane, sumTar);
  sumCur = rowSum(lane, sumCur);
  return Pair(topTar, log(max(sumTar, 1.0)), topCur, log(max(sumCur, 1.0)));
}

fn shiftedExp(logit: f32, top: f32, temperature: f32) -> f32 {
  if (logit <= MASKED) {
    return 0.0;
  }
  return exp((logit - top) / temperature);
}

fn logProbabilityOf(logit: f32, top: f32, logSum: f32, temperature: f32) -> f32 {
  if (logit <= MASKED) {
    return MINUS_INFINITY;
  }
  return (logit - top) / temperature - logSum;
}

fn logTar(row: Pair, index: u32, temperature: f32) -> f32 {
  return logProbabilityOf(logitsTar[index], row.topTar, row.logSumTar, temperature);
}

fn logCur(row: Pair, index: u32, temperature: f32) -> f32 {
  return logProbabilityOf(logitsCur[index], row.topCur, row.logSumCur, temperature);
}

// exp(-d) - 1 + d for |d| < 0.25, without its cancellation; the first omitted term is 4e-8 of the result.
fn excessSeries(d: f32) -> f32 {
  return 0.5 * d * d * (1.0 - d / 3.0 * (1.0 - d / 4.0 * (1.0 - d / 5.0 * (1.0 - d / 6.0 * (1.0 - d / 7.0)))));
}

// One action's term p d + q - p.
fn klShare(logP: f32, logQ: f32) -> f32 {
  let p = exp(logP);
  let q = exp(logQ);
  if (logP <= MASKED) {
    return q;
  }
  if (logQ <= MASKED) {
    return PLUS_INFINITY;
  }
  let d = logP - logQ;
  if (abs(d) < 0.25) {
    return p * excessSeries(d);
  }
  return q + p * (d - 1.0);
}

// KL(tar || cur) of the row, or KL(cur || tar) if `reversed`; 0 if the first policy has no possible action.
fn divergenceOf(lane: u32, base: u32, columns: u32, temperature: f32, row: Pair, reversed: bool) -> Divergence {
  var kl = 0.0;
  var mean = 0.0;
  for (var v = lane; v < columns; v += LANES) {
    let tar = logTar(row, base + v, temperature);
    let cur = logCur(row, base + v, temperature);
    let p = select(tar, cur, reversed);
    let q = select(cur, tar, reversed);
    kl = min(kl + klShare(p, q), PLUS_INFINITY);
    if (p > MASKED && q > MASKED) {
      mean += exp(p) * (p - q);
    }
  }
  kl = min(rowSum(lane, kl), PLUS_INFINITY);
  mean = rowSum(lane, mean);
  if (select(row.topTar, row.topCur, reversed) <= MASKED) {
    kl = 0.0;
  }
  return Divergence(kl, mean);
}
