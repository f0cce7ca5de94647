import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Scenario, scenario } from '../../test/support/randomMdp.ts';
import { type Evaluation, evaluate } from './evaluate.ts';
import { type FisherSettings, informationGain, stepOutcome } from './fisher.ts';
import type { JointPolicy, Mdp } from './mdp.ts';
import { isActive } from './policy.ts';

const RUNS = { numRuns: 150 };

/** One agent, one state, two actions that pay 0 and 1: A = (-p, 1 - p) with p the probability of the second. */
const bandit = (gamma: number): Mdp => ({
  nStates: 1,
  nActions: [2],
  gamma,
  transitions: Float64Array.of(1, 1),
  rewards: Float64Array.of(0, 1),
  mu: Float64Array.of(1),
  active: Uint8Array.of(1),
  noop: [0],
});

interface Case extends FisherSettings {
  readonly given: Scenario;
  readonly temperature: number;
}

const settings: fc.Arbitrary<Case> = fc.record({
  given: scenario,
  eps: fc.constantFrom(1e-6, 1e-3, 0.1),
  delta: fc.constantFrom(0, 1e-6, 1e-3, 0.05),
  temperature: fc.constantFrom(0.5, 1, 2),
});

/** Calls `check` for every agent of a random team. */
function forEveryAgent(
  check: (
    agent: number,
    gain: ReturnType<typeof informationGain>,
    context: Case & { mdp: Mdp; joint: JointPolicy; evaluation: Evaluation; rMax: number },
  ) => void,
  numRuns = RUNS.numRuns,
) {
  fc.assert(
    fc.property(settings, (drawn) => {
      const { mdp, current: joint, rMax } = drawn.given;
      const evaluation = evaluate(mdp, joint);
      for (const agent of mdp.nActions.keys()) {
        const gain = informationGain(mdp, joint, evaluation, agent, drawn);
        check(agent, gain, { ...drawn, mdp, joint, evaluation, rMax });
      }
    }),
    { numRuns },
  );
}

/** F v from the definition, score by score: sum_s d(s) sum_a pi(a|s) score (score . v), score = (e_a - p) / T. */
function fisherTimes(
  mdp: Mdp,
  rows: Float64Array,
  d: Float64Array,
  agent: number,
  temperature: number,
  v: Float64Array,
): Float64Array {
  const width = mdp.nActions[agent]!;
  const out = new Float64Array(v.length);
  for (let s = 0; s < mdp.nStates; s++) {
    if (!isActive(mdp, s, agent)) continue;
    for (let a = 0; a < width; a++) {
      const score = Array.from(
        { length: width },
        (_, b) => (Number(a === b) - rows[s * width + b]!) / temperature,
      );
      const along = score.reduce((sum, x, b) => sum + x * v[s * width + b]!, 0);
      score.forEach((x, b) => {
        out[s * width + b] = out[s * width + b]! + d[s]! * rows[s * width + a]! * x * along;
      });
    }
  }
  return out;
}

const dot = (a: Float64Array, b: Float64Array) => a.reduce((sum, x, k) => sum + x * b[k]!, 0);

/** A step along one coordinate, or two. */
function along(length: number, ...moves: readonly (readonly [number, number])[]): Float64Array {
  const step = new Float64Array(length);
  for (const [k, h] of moves) step[k] = step[k]! + h;
  return step;
}

describe('one state, two actions', () => {
  it.each([
    [0.3, 0.9, 1],
    [0.5, 0, 1],
    [0.2, 0.5, 0.8],
  ])('p = %f, gamma = %f, T = %f: v = p (1 - p) says everything', (p, gamma, temperature) => {
    const [eps, delta] = [0.01, 0.02];
    const mdp = bandit(gamma);
    const joint = [Float64Array.of(1 - p, p)];
    const gain = informationGain(mdp, joint, evaluate(mdp, joint), 0, { eps, delta, temperature });
    // g = v / (T (1 - gamma)) (-1, 1), F = v / T^2 [[1, -1], [-1, 1]], whose eigenvalue along (-1, 1) is 2 v / T^2.
    const v = p * (1 - p);
    const g = v / (temperature * (1 - gamma));
    const x = g / ((2 * v) / temperature ** 2 + eps);
    expect([...gain.gradient]).toEqual([expect.closeTo(-g, 13), expect.closeTo(g, 13)]);
    expect([...gain.naturalGradient]).toEqual([expect.closeTo(-x, 12), expect.closeTo(x, 12)]);
    expect(gain.kappa).toBeCloseTo(Math.sqrt(4 * g * x), 12);
    expect(gain.gain).toBeCloseTo(Math.sqrt(4 * g * x * delta), 12);
    const length = Math.sqrt(delta / (g * x));
    expect(gain.naturalStep[1]).toBeCloseTo(length * x, 12);
    expect(gain.naturalStep[0]).toBeCloseTo(-length * x, 12);
    // The rewards are 1 apart, and so are the advantages.
    expect(gain.smoothness).toBeCloseTo(1 / (2 * (1 - gamma) * temperature ** 2), 12);
    expect(gain.netGain).toBeCloseTo(gain.gain - (gain.smoothness / eps) * delta, 10);
  });

  it('stays accurate as the damping vanishes: kappa^2 -> 2 Var_p(A) / (1 - gamma)^2', () => {
    const joint = [Float64Array.of(0.7, 0.3)];
    const mdp = bandit(0.9);
    const { kappa } = informationGain(mdp, joint, evaluate(mdp, joint), 0, { eps: 1e-15, delta: 1 });
    expect(kappa ** 2).toBeCloseTo((2 * 0.21) / 0.01, 10);
  });
});

describe('informationGain on random models', () => {
  it('has the gradient of L: central differences at every logit', () => {
    const h = 1e-5;
    forEveryAgent((agent, { gradient }, { mdp, joint, evaluation, temperature, rMax }) => {
      const L = (k: number, by: number) =>
        stepOutcome(mdp, joint, evaluation, agent, along(gradient.length, [k, by]), temperature).L;
      gradient.forEach((slope, k) => {
        const difference = (L(k, h) - L(k, -h)) / (2 * h);
        expect(Math.abs(slope - difference)).toBeLessThanOrEqual((1e-8 * rMax) / (1 - mdp.gamma) ** 2);
      });
    }, 60);
  });

  it('has in F the Hessian of the mean KL: second differences of KL give (F + eps I) naturalGradient = g', () => {
    const h = 1e-3;
    forEveryAgent((agent, { gradient, naturalGradient }, context) => {
      const { mdp, joint, evaluation, temperature, eps, rMax } = context;
      const n = gradient.length;
      const kl = (...moves: (readonly [number, number])[]) =>
        stepOutcome(mdp, joint, evaluation, agent, along(n, ...moves), temperature).meanKl;
      const size = naturalGradient.reduce((most, x) => Math.max(most, Math.abs(x)), rMax);
      for (let i = 0; i < n; i++) {
        let image = eps * naturalGradient[i]!;
        for (let j = 0; j < n; j++) {
          const mixed = kl([i, h], [j, h]) - kl([i, h], [j, -h]) - kl([i, -h], [j, h]) + kl([i, -h], [j, -h]);
          image += (mixed / (4 * h * h)) * naturalGradient[j]!;
        }
        expect(Math.abs(image - gradient[i]!)).toBeLessThanOrEqual(2e-5 * size);
      }
    }, 40);
  });

  it('solves (F + eps I) x = g with F summed score by score, and kappa^2 / 2 = g . x', () => {
    forEveryAgent((agent, { gradient, naturalGradient, kappa }, context) => {
      const { mdp, joint, evaluation, temperature, eps } = context;
      const image = fisherTimes(mdp, joint[agent]!, evaluation.d, agent, temperature, naturalGradient);
      const size = naturalGradient.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
      gradient.forEach((slope, k) => {
        expect(Math.abs(image[k]! + eps * naturalGradient[k]! - slope)).toBeLessThanOrEqual(1e-12 * size);
      });
      const slope = dot(gradient, naturalGradient);
      expect(Math.abs(kappa ** 2 / 2 - slope)).toBeLessThanOrEqual(1e-12 * slope);
    });
  });

  it('has lambdaMin = eps as the smallest eigenvalue: reached along a constant row, and F has none below 0', () => {
    forEveryAgent((agent, { lambdaMin, gradient }, { mdp, joint, evaluation, temperature, eps }) => {
      expect(lambdaMin).toBe(eps);
      const product = (v: Float64Array) =>
        fisherTimes(mdp, joint[agent]!, evaluation.d, agent, temperature, v);
      const constant = new Float64Array(gradient.length).fill(1);
      for (const x of product(constant)) expect(Math.abs(x)).toBeLessThanOrEqual(1e-14);
      for (const k of gradient.keys()) {
        const v = Float64Array.from(gradient, (_, index) => Math.sin((k + 1) * (index + 1)));
        expect(dot(v, product(v))).toBeGreaterThanOrEqual(-1e-14);
      }
    });
  });

  it('takes a natural step of mean KL delta (1 - eps |step|^2 / (2 delta)) as delta -> 0', () => {
    let steps = 0;
    const delta = 1e-8;
    forEveryAgent((agent, _, { mdp, joint, evaluation, temperature, eps, rMax }) => {
      const { naturalStep, kappa } = informationGain(mdp, joint, evaluation, agent, {
        eps,
        delta,
        temperature,
      });
      // Advantages that are rounding errors give a direction that is one too.
      if (kappa < 1e-6 * rMax) return;
      const { meanKl } = stepOutcome(mdp, joint, evaluation, agent, naturalStep, temperature);
      const damped = (eps * dot(naturalStep, naturalStep)) / (2 * delta);
      const longest = naturalStep.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / temperature;
      expect(Math.abs(meanKl / delta - (1 - damped))).toBeLessThanOrEqual(2 * longest + 1e-6);
      if (longest < 0.01) steps++;
    });
    expect(steps).toBeGreaterThan(50);
  });

  it('promises no more than L rises at the natural step: netGain is below it, at every radius', () => {
    let positive = 0;
    forEveryAgent((agent, { naturalStep, netGain }, { mdp, joint, evaluation, temperature, rMax }) => {
      const { L } = stepOutcome(mdp, joint, evaluation, agent, naturalStep, temperature);
      expect(netGain).toBeLessThanOrEqual(L + (1e-13 * rMax) / (1 - mdp.gamma) ** 2);
      if (netGain > 1e-6) positive++;
    }, 300);
    expect(positive).toBeGreaterThan(20);
  });

  it('bounds the curvature of L: no second difference exceeds smoothness', () => {
    const h = 1e-3;
    forEveryAgent((agent, { gradient, smoothness }, { mdp, joint, evaluation, temperature, rMax }) => {
      const n = gradient.length;
      const L = (v: Float64Array, by: number) =>
        stepOutcome(
          mdp,
          joint,
          evaluation,
          agent,
          v.map((x) => by * x),
          temperature,
        ).L;
      for (const k of gradient.keys()) {
        const v = Float64Array.from({ length: n }, (_, index) => Math.sin((k + 1) * (index + 1)));
        const unit = v.map((x) => x / Math.sqrt(dot(v, v)));
        const curvature = Math.abs(L(unit, h) - 2 * L(unit, 0) + L(unit, -h)) / h ** 2;
        expect(curvature).toBeLessThanOrEqual(smoothness * 1.001 + (1e-8 * rMax) / (1 - mdp.gamma) ** 2);
      }
    }, 60);
  });

  it('takes nothing from states where the agent does not act, whatever its row says there', () => {
    let inactive = 0;
    forEveryAgent((agent, gain, { mdp, joint, evaluation, eps, delta, temperature }) => {
      const width = mdp.nActions[agent]!;
      const idle = (index: number) => !isActive(mdp, Math.floor(index / width), agent);
      const changed = joint.map((rows, j) =>
        j === agent ? rows.map((p, k) => (idle(k) ? 0.123 : p)) : rows,
      );
      for (const table of [gain.gradient, gain.naturalGradient, gain.naturalStep]) {
        table.forEach((x, index) => {
          if (!idle(index)) return;
          inactive++;
          expect(x).toBe(0);
        });
      }
      expect(informationGain(mdp, changed, evaluation, agent, { eps, delta, temperature })).toEqual(gain);
    });
    expect(inactive).toBeGreaterThan(100);
  });
});

it('gives exactly nothing to an agent that never acts', () => {
  const mdp = { ...bandit(0.5), active: Uint8Array.of(0) };
  const joint = [Float64Array.of(0.5, 0.5)];
  const gain = informationGain(mdp, joint, evaluate(mdp, joint), 0, { eps: 0.1, delta: 0.1 });
  expect(gain).toMatchObject({ kappa: 0, gain: 0, netGain: 0, smoothness: 0, lambdaMin: 0.1 });
  expect([...gain.naturalStep]).toEqual([0, 0]);
});

it('says what is wrong with an agent, a damping, a radius or a temperature', () => {
  const mdp = bandit(0.5);
  const joint = [Float64Array.of(0.5, 0.5)];
  const evaluation = evaluate(mdp, joint);
  const call = (agent: number, changes: Partial<FisherSettings>) => () =>
    informationGain(mdp, joint, evaluation, agent, { eps: 0.1, delta: 0.1, ...changes });
  expect(call(1, {})).toThrow('agent 1; allowed: a whole number from 0 to 0');
  expect(call(0, { eps: 0 })).toThrow('eps 0; allowed: a number above 0');
  expect(call(0, { delta: -1 })).toThrow('delta -1; allowed: a number from 0');
  expect(call(0, { temperature: Number.NaN })).toThrow('temperature NaN; allowed: a number above 0');
});
