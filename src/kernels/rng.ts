/**
 * Counter-based random numbers: Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy
 * as 1, 2, 3", SC 2011). Every draw is a pure function of (key, counter), so the CPU and WGSL kernels
 * (`shaders/sample.wgsl`) produce the same bits, and no draw depends on how a batch was split.
 */

/** A 64-bit key as two u32 words. */
export type RngKey = readonly [number, number];

const ROTATIONS = [13, 15, 26, 6, 17, 29, 16, 24] as const;
const PARITY = 0x1bd11bda;

/** One Threefry-2x32-20 block: two u32 words for `counter` under `key`. */
export function threefry2x32(key: RngKey, counter: readonly [number, number]): [number, number] {
  const schedule = [key[0] >>> 0, key[1] >>> 0, (key[0] ^ key[1] ^ PARITY) >>> 0] as const;
  let x0 = (counter[0] + schedule[0]) >>> 0;
  let x1 = (counter[1] + schedule[1]) >>> 0;
  for (let round = 0; round < 20; round++) {
    const rotation = ROTATIONS[round % 8]!;
    x0 = (x0 + x1) >>> 0;
    x1 = ((x1 << rotation) | (x1 >>> (32 - rotation))) >>> 0;
    x1 = (x1 ^ x0) >>> 0;
    if (round % 4 === 3) {
      const injection = (round + 1) / 4;
      x0 = (x0 + schedule[injection % 3]!) >>> 0;
      x1 = (x1 + schedule[(injection + 1) % 3]! + injection) >>> 0;
    }
  }
  return [x0, x1];
}

/** Uniform in [0, 1) from the top 24 bits of `word`: exact in float32, so equal in TypeScript and WGSL. */
export function uniformFromBits(word: number): number {
  return (word >>> 8) * 2 ** -24;
}

/** What a stream of random numbers is for: keeps streams of one (seed, stage) apart. */
export type RngScope = 'init' | 'prompts' | 'actions' | 'transitions' | 'order' | 'evaluation' | 'warmStart';

const SCOPE_ID: Record<RngScope, number> = {
  init: 1,
  prompts: 2,
  actions: 3,
  transitions: 4,
  order: 5,
  evaluation: 6,
  warmStart: 7,
};

/** The key of the stream (seed, scope, indices...), e.g. (seed, 'actions', stage, step, agent). */
export function deriveKey(seed: number, scope: RngScope, ...indices: number[]): RngKey {
  let key: RngKey = [seed >>> 0, Math.floor(seed / 2 ** 32) >>> 0];
  for (const index of [SCOPE_ID[scope], ...indices]) key = threefry2x32(key, [index >>> 0, 0x5a7]);
  return key;
}

/** A sequential reader of one stream, for code that draws a few numbers on the host. */
export class Rng {
  private counter = 0;

  constructor(private readonly key: RngKey) {}

  /** The stream (seed, scope, indices...). */
  static of(seed: number, scope: RngScope, ...indices: number[]): Rng {
    return new Rng(deriveKey(seed, scope, ...indices));
  }

  /** Uniform in [0, 1), a multiple of 2^-24. */
  uniform(): number {
    return uniformFromBits(threefry2x32(this.key, [this.counter++, 0])[0]);
  }

  /** Integer in [0, n), n from 1 to 2^24. */
  integer(n: number): number {
    return Math.floor(this.uniform() * n);
  }

  /** Standard normal (Box-Muller). */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    return radius * Math.cos(2 * Math.PI * this.uniform());
  }

  /** A uniformly random permutation of 0..n-1 (Fisher-Yates). */
  permutation(n: number): number[] {
    const order = Array.from({ length: n }, (_, i) => i);
    for (let i = n - 1; i > 0; i--) {
      const j = this.integer(i + 1);
      [order[i], order[j]] = [order[j]!, order[i]!];
    }
    return order;
  }
}
