// Numbers that stand for infinities, which WGSL expressions cannot hold and implementations may assume away.
// Large enough to be recognised (>= 1e30 in magnitude), small enough that sums of a hundred stay finite.

// Logits at or below this are impossible actions.
const MASKED: f32 = -1e30;
const MINUS_INFINITY: f32 = -1e36;
const PLUS_INFINITY: f32 = 1e36;
// exp of anything above this counts as infinite: 8e36.
const LARGEST_EXPONENT: f32 = 85.0;

// exp(x), finite for every x.
fn expFinite(x: f32) -> f32 {
  return exp(min(x, LARGEST_EXPONENT));
}
