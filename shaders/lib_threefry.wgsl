// Threefry-2x32 with 20 rounds (Salmon et al., SC 2011): two u32 words as a pure function of key and counter, equal bit
// for bit to src/kernels/rng.ts.

const THREEFRY_ROTATIONS = array<u32, 8>(13u, 15u, 26u, 6u, 17u, 29u, 16u, 24u);
const THREEFRY_PARITY: u32 = 0x1bd11bdau;

fn threefry2x32(key: vec2u, counter: vec2u) -> vec2u {
  var rotations = THREEFRY_ROTATIONS;
  var schedule = array<u32, 3>(key.x, key.y, key.x ^ key.y ^ THREEFRY_PARITY);
  var x = counter + key;
  for (var round = 0u; round < 20u; round++) {
    let rotation = rotations[round % 8u];
    x.x += x.y;
    x.y = ((x.y << rotation) | (x.y >> (32u - rotation))) ^ x.x;
    if (round % 4u == 3u) {
      let injection = (round + 1u) / 4u;
      x.x += schedule[injection % 3u];
      x.y += schedule[(injection + 1u) % 3u] + injection;
    }
  }
  return x;
}

// Uniform in [0, 1) from the top 24 bits: exact in float32.
fn uniformFromBits(word: u32) -> f32 {
  return f32(word >> 8u) * 0x1p-24f;
}
