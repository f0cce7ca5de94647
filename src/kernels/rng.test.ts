import { describe, expect, test } from 'vitest';
import { deriveKey, Rng, threefry2x32, uniformFromBits } from './rng.ts';

describe('threefry2x32', () => {
  // Known-answer vectors of Random123 for threefry2x32, 20 rounds.
  test.each([
    { key: [0, 0], counter: [0, 0], words: [0x6b200159, 0x99ba4efe] },
    { key: [0xffffffff, 0xffffffff], counter: [0xffffffff, 0xffffffff], words: [0x1cb996fc, 0xbb002be7] },
    { key: [0x13198a2e, 0x03707344], counter: [0x243f6a88, 0x85a308d3], words: [0xc4923a9c, 0x483df7a0] },
  ] as const)('$key $counter', ({ key, counter, words }) => {
    expect(threefry2x32(key, counter)).toEqual(words);
  });
});

test('uniforms are multiples of 2^-24 in [0, 1), exact in float32', () => {
  expect(uniformFromBits(0)).toBe(0);
  expect(uniformFromBits(0xff)).toBe(0);
  expect(uniformFromBits(0x100)).toBe(2 ** -24);
  expect(uniformFromBits(0xffffffff)).toBe(1 - 2 ** -24);
  expect(Math.fround(uniformFromBits(0xffffffff))).toBe(1 - 2 ** -24);
});

test('keys of different streams differ', () => {
  const keys = [
    deriveKey(1, 'actions'),
    deriveKey(2, 'actions'),
    deriveKey(1, 'prompts'),
    deriveKey(1, 'actions', 0),
    deriveKey(1, 'actions', 1),
    deriveKey(1, 'actions', 0, 0),
    deriveKey(2 ** 32 + 1, 'actions'),
  ].map(String);
  expect(new Set(keys).size).toBe(keys.length);
});

describe('Rng', () => {
  const draws = 20_000;

  test('repeats for one seed', () => {
    const [first, second] = [Rng.of(7, 'order', 3), Rng.of(7, 'order', 3)];
    for (let i = 0; i < 10; i++) expect(first.uniform()).toBe(second.uniform());
  });

  // Bounds are five standard errors wide.
  test('uniforms have mean 1/2 and variance 1/12', () => {
    const rng = Rng.of(1, 'init');
    const x = Array.from({ length: draws }, () => rng.uniform());
    const mean = x.reduce((sum, u) => sum + u, 0) / draws;
    const variance = x.reduce((sum, u) => sum + (u - mean) ** 2, 0) / draws;
    expect(Math.abs(mean - 0.5)).toBeLessThan(5 * Math.sqrt(1 / 12 / draws));
    expect(Math.abs(variance - 1 / 12)).toBeLessThan(5 * Math.sqrt(1 / 180 / draws));
  });

  test('normals have mean 0 and variance 1', () => {
    const rng = Rng.of(2, 'init');
    const x = Array.from({ length: draws }, () => rng.normal());
    const mean = x.reduce((sum, z) => sum + z, 0) / draws;
    const variance = x.reduce((sum, z) => sum + z * z, 0) / draws;
    expect(Math.abs(mean)).toBeLessThan(5 / Math.sqrt(draws));
    expect(Math.abs(variance - 1)).toBeLessThan(5 * Math.sqrt(2 / draws));
  });

  test('integers reach every value below n and no other', () => {
    const rng = Rng.of(3, 'init');
    const seen = new Set(Array.from({ length: 500 }, () => rng.integer(7)));
    expect([...seen].sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test('permutations are permutations, each of the six orders of three about equally often', () => {
    const rng = Rng.of(4, 'order');
    const counts = new Map<string, number>();
    for (let i = 0; i < 6000; i++) {
      const order = rng.permutation(3);
      expect([...order].sort()).toEqual([0, 1, 2]);
      counts.set(order.join(''), (counts.get(order.join('')) ?? 0) + 1);
    }
    expect(counts.size).toBe(6);
    // Chi-square with 5 degrees of freedom is above 20.5 once in a thousand.
    const chiSquare = [...counts.values()].reduce((sum, n) => sum + (n - 1000) ** 2 / 1000, 0);
    expect(chiSquare).toBeLessThan(20.5);
  });
});
