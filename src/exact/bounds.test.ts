import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { permutations, type Scenario, scenario } from '../../test/support/randomMdp.ts';
import { type AgentUpdateQuantities, agentUpdate, BOUND_NAMES, surrogatePenalties } from './bounds.ts';
import { neverPositive, stageCertificate, vacuous } from './certificate.ts';
import { klDivergence, totalVariation } from './divergence.ts';
import { evaluate } from './evaluate.ts';
import type { JointPolicy, Mdp } from './mdp.ts';
import { intermediatePolicies, jointActionCount, jointDistribution } from './policy.ts';

const RUNS = { numRuns: 400 };

/** Rounding of values of size rMax / (1 - gamma), which a solve can amplify by at most 2 / (1 - gamma). */
const rounding = ({ mdp, rMax }: Scenario) => (1e-13 * rMax) / (1 - mdp.gamma) ** 2;

/** Every update of a sweep in the given order. */
function sweep({ mdp, current, target }: Scenario, sigma: readonly number[]): AgentUpdateQuantities[] {
  const policies = intermediatePolicies(current, target, sigma);
  return sigma.map((agent, i) => agentUpdate(mdp, policies[i]!, policies[i + 1]!, agent));
}

const inOrder = (given: Scenario) => sweep(given, [...given.mdp.nActions.keys()]);

/** One agent, one state, two actions that pay 0 and 1: A = -p, 1 - p with p the probability of the second. */
function bandit(gamma: number, rewards = [0, 1]): Mdp {
  return {
    nStates: 1,
    nActions: [2],
    gamma,
    transitions: Float64Array.of(1, 1),
    rewards: Float64Array.from(rewards),
    mu: Float64Array.of(1),
    active: Uint8Array.of(1),
    noop: [0],
  };
}

const playing = (p: number): JointPolicy => [Float64Array.of(1 - p, p)];

describe('agentUpdate on random models', () => {
  it('has every lower bound at most the true change, and the ceiling above the change and L', () => {
    fc.assert(
      fc.property(scenario, (given) => {
        const tolerance = rounding(given);
        for (const update of inOrder(given)) {
          for (const name of BOUND_NAMES) {
            expect(update.lowerBounds[name], name).not.toBeNaN();
            expect(update.lowerBounds[name], name).toBeLessThanOrEqual(update.dJ + tolerance);
          }
          expect(update.dJ).toBeLessThanOrEqual(update.oracleUpperBound + tolerance);
          expect(update.L).toBeLessThanOrEqual(update.oracleUpperBound + tolerance);
        }
      }),
      RUNS,
    );
  });

  it('has finite bounds but the paper’s even where an impossible action became possible', () => {
    let infinite = 0;
    fc.assert(
      fc.property(scenario, (given) => {
        for (const update of inOrder(given)) {
          const { paper, ...others } = update.lowerBounds;
          for (const value of Object.values(others)) expect(value).toSatisfy(Number.isFinite);
          if (update.klMax === Number.POSITIVE_INFINITY && given.mdp.gamma > 0 && update.aMax > 0) {
            infinite++;
            expect(paper).toBe(Number.NEGATIVE_INFINITY);
          }
        }
      }),
      RUNS,
    );
    expect(infinite).toBeGreaterThan(5);
  });

  it('orders the bounds: CPO-type is never below TRPO-type or the paper’s', () => {
    fc.assert(
      fc.property(scenario, (given) => {
        for (const { lowerBounds } of inOrder(given)) {
          expect(lowerBounds.trpo).toBeLessThanOrEqual(lowerBounds.cpo + rounding(given));
          expect(lowerBounds.paper).toBeLessThanOrEqual(lowerBounds.cpo + rounding(given));
        }
      }),
      RUNS,
    );
  });

  it('satisfies the performance difference identity dJ = E_{d after} f / (1 - gamma)', () => {
    fc.assert(
      fc.property(scenario, (given) => {
        const { mdp, current, target } = given;
        const after = [target[0]!, ...current.slice(1)];
        const update = agentUpdate(mdp, current, after, 0);
        const { d } = evaluate(mdp, after);
        const identity = update.expectedAdvantage.reduce((sum, f, s) => sum + d[s]! * f, 0) / (1 - mdp.gamma);
        expect(Math.abs(identity - update.dJ)).toBeLessThanOrEqual(rounding(given));
      }),
      RUNS,
    );
  });

  it('keeps the occupancy shift within both bounds', () => {
    fc.assert(
      fc.property(scenario, (given) => {
        for (const update of inOrder(given)) {
          expect(update.occupancyShift).toBeLessThanOrEqual(update.occupancyShiftBound + 1e-11);
          expect(update.occupancyShift).toBeLessThanOrEqual(update.occupancyShiftBoundCoupling + 1e-11);
          expect(update.occupancyShiftBoundCoupling).toBeLessThanOrEqual(2);
        }
      }),
      RUNS,
    );
  });

  it('has joint KL equal to the sum of the agents’, and TV within Pinsker’s bound', () => {
    fc.assert(
      fc.property(scenario, (given) => {
        const { mdp, current, target } = given;
        const nJoint = jointActionCount(mdp);
        const [p, q] = [new Float64Array(nJoint), new Float64Array(nJoint)];
        const updates = inOrder(given);
        for (let s = 0; s < mdp.nStates; s++) {
          jointDistribution(mdp, target, s, p);
          jointDistribution(mdp, current, s, q);
          const joint = klDivergence(p, q, 0, nJoint);
          const sum = updates.reduce((total, update) => total + update.kl[s]!, 0);
          if (Number.isFinite(sum)) expect(Math.abs(joint - sum)).toBeLessThanOrEqual(1e-12 + 1e-9 * sum);
          else expect(joint).toBe(sum);
          for (const { kl, tv } of updates) expect(tv[s]).toBeLessThanOrEqual(Math.sqrt(kl[s]! / 2) + 1e-8);
        }
      }),
      RUNS,
    );
  });

  it('telescopes to the change of the stage, and no order breaks the stage’s bounds', () => {
    fc.assert(
      fc.property(scenario, (given) => {
        const { mdp, current, target } = given;
        const dJ = evaluate(mdp, target).J - evaluate(mdp, current).J;
        const tolerance = mdp.nActions.length * rounding(given);
        for (const sigma of permutations(mdp.nActions.length)) {
          const stage = stageCertificate(sweep(given, sigma));
          expect(Math.abs(stage.dJ - dJ)).toBeLessThanOrEqual(tolerance);
          for (const name of BOUND_NAMES) expect(stage.lowerBounds[name]).toBeLessThanOrEqual(dJ + tolerance);
          expect(dJ).toBeLessThanOrEqual(stage.oracleUpperBound + tolerance);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('never contradicts what is said to be never positive', () => {
    let said = 0;
    fc.assert(
      fc.property(scenario, (given) => {
        for (const { lowerBounds, tvMax, meanTv } of inOrder(given)) {
          for (const name of BOUND_NAMES) {
            if (neverPositive(name, given.mdp.gamma, tvMax, meanTv) === undefined) continue;
            said++;
            expect(lowerBounds[name], name).toBeLessThanOrEqual(rounding(given));
          }
        }
      }),
      RUNS,
    );
    expect(said).toBeGreaterThan(100);
  });
});

describe('agentUpdate in closed form', () => {
  it('measures a bandit: p from 1/2 to 3/4 at gamma 1/2', () => {
    const update = agentUpdate(bandit(0.5), playing(0.5), playing(0.75), 0);
    // f = 1/4, d = 1, A = -+1/2; one state, so L is the whole change.
    expect(update.dJ).toBeCloseTo(0.5, 14);
    expect(update.L).toBeCloseTo(0.5, 14);
    expect([update.aMax, update.tvMax, update.meanTv]).toEqual([0.5, 0.25, 0.25]);
    expect(update.klMax).toBeCloseTo(0.75 * Math.log(1.5) + 0.25 * Math.log(0.5), 14);
    expect(update.penalties.paper).toBeCloseTo(2 * Math.sqrt(update.klMax / 2), 14);
    expect(update.penalties.trpo).toBeCloseTo(8 * 0.5 * 0.0625, 14);
    expect(update.penalties.cpo).toBeCloseTo(4 * 0.25 * 0.25, 14);
    expect(update.penalties.coupling).toBeCloseTo((2 * 0.25) / 0.625 / 4, 14);
    expect(update.lowerBounds.statewise).toBeCloseTo(0.5, 14);
    expect(update.occupancyShift).toBe(0);
  });

  it('needs no penalty at gamma 0: every bound is the change itself, also at infinite KL', () => {
    for (const [from, to] of [
      [0.2, 0.6],
      [0, 1],
      [0, 0.3],
    ] as const) {
      const update = agentUpdate(bandit(0), playing(from), playing(to), 0);
      for (const name of BOUND_NAMES) expect(update.lowerBounds[name]).toBeCloseTo(to - from, 14);
    }
  });

  it('gives -Infinity for the paper’s bound and Infinity for the ceiling where KL is infinite', () => {
    const update = agentUpdate(bandit(0.9), playing(0), playing(0.5), 0);
    expect(update.klMax).toBe(Number.POSITIVE_INFINITY);
    expect(update.lowerBounds.paper).toBe(Number.NEGATIVE_INFINITY);
    expect(update.oracleUpperBound).toBe(Number.POSITIVE_INFINITY);
    expect(update.dJ).toBeCloseTo(5, 12);
    expect(update.lowerBounds.statewise).toBeCloseTo(5, 12);
  });

  it('has all bounds 0 where every action is worth the same, also at infinite KL', () => {
    const update = agentUpdate(bandit(0.5, [1, 1]), playing(0), playing(1), 0);
    expect(update.klMax).toBe(Number.POSITIVE_INFINITY);
    for (const name of BOUND_NAMES) expect(update.lowerBounds[name]).toBe(0);
    expect(update.oracleUpperBound).toBe(0);
  });

  it('agrees with the terms alone', () => {
    const gamma = 0.9;
    const penalties = surrogatePenalties({
      gamma,
      aMax: 2,
      fMax: 0.3,
      klMax: 0.02,
      tvMax: 0.1,
      meanTv: 0.05,
    });
    expect(penalties.paper).toBeCloseTo(180 * 2 * 0.1, 9);
    expect(penalties.trpo).toBeCloseTo(360 * 2 * 0.01, 9);
    expect(penalties.cpo).toBeCloseTo(180 * 0.3 * 0.05, 9);
    expect(penalties.coupling).toBeCloseTo((10 * 0.18 * 0.3) / 0.19, 9);
  });

  it('refuses an update of more than one agent', () => {
    const two: Mdp = { ...bandit(0.5), nActions: [1, 2], active: Uint8Array.of(1, 1), noop: [0, 0] };
    const team = (p: number): JointPolicy => [Float64Array.of(1), ...playing(p)];
    expect(() => agentUpdate(two, team(0.5), team(0.6), 0)).toThrow(
      'agent 1 changed too; allowed: a change of agent 0 alone',
    );
    expect(() => agentUpdate(two, team(0.5), team(0.6), 2)).toThrow(
      'agent 2; allowed: a whole number from 0 to 1',
    );
    expect(agentUpdate(two, team(0.5), team(0.6), 1).tvMax).toBeCloseTo(0.1, 14);
  });
});

describe('vacuous', () => {
  it('turns exactly at gamma 1/2: just below, small steps of a bandit have a positive paper bound', () => {
    const paper = (gamma: number) =>
      agentUpdate(bandit(gamma), playing(0.5), playing(0.501), 0).lowerBounds.paper;
    expect(paper(0.49)).toBeGreaterThan(0);
    expect(vacuous('paper', 0.49)).toBeUndefined();
    for (const gamma of [0.5, 0.7, 0.99]) {
      expect(paper(gamma)).toBeLessThan(0);
      expect(vacuous('paper', gamma)).toContain(`γ = ${gamma}`);
    }
  });

  it('is said of no other bound', () => {
    for (const name of ['trpo', 'cpo', 'coupling', 'statewise'] as const) {
      expect(vacuous(name, 0.999)).toBeUndefined();
    }
  });
});

describe('neverPositive', () => {
  it('has the limits of total variation (1-g)/(2g), (1-g)/(2g) on average, and (1-g)/g', () => {
    const gamma = 0.9;
    expect(neverPositive('trpo', gamma, 0.055, 0)).toBeUndefined();
    expect(neverPositive('trpo', gamma, 0.056, 0)).toContain('below 0.056');
    expect(neverPositive('cpo', gamma, 1, 0.055)).toBeUndefined();
    expect(neverPositive('cpo', gamma, 1, 0.056)).toContain('mean total variation');
    expect(neverPositive('coupling', gamma, 0.11, 0)).toBeUndefined();
    expect(neverPositive('coupling', gamma, 0.112, 0)).toContain('below 0.11');
    expect(neverPositive('statewise', gamma, 1, 1)).toBeUndefined();
    expect(neverPositive('paper', gamma, 0, 0)).toBe(vacuous('paper', gamma));
  });

  it('forbids nothing at gamma 0', () => {
    for (const name of BOUND_NAMES) expect(neverPositive(name, 0, 1, 1)).toBeUndefined();
  });
});

describe('divergences', () => {
  it('treat impossible actions as the definitions say', () => {
    expect(klDivergence([1, 0], [0.5, 0.5], 0, 2)).toBeCloseTo(Math.log(2), 15);
    expect(klDivergence([0.5, 0.5], [1, 0], 0, 2)).toBe(Number.POSITIVE_INFINITY);
    expect(klDivergence([9, 0, 1], [9, 0, 1], 1, 2)).toBe(0);
    expect(totalVariation([1, 0], [0, 1], 0, 2)).toBe(1);
    expect(totalVariation([9, 0.25, 0.75], [1, 0.5, 0.5], 1, 2)).toBe(0.25);
  });
});
