import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { actionsOf, scenario } from '../../test/support/randomMdp.ts';
import { doorway } from '../tasks/doorway.ts';
import { evaluate, exactAdvantageForAgent, expectedAdvantage } from './evaluate.ts';
import type { JointPolicy, Mdp } from './mdp.ts';
import { isActive, jointActionCount, softmaxRows } from './policy.ts';

const RUNS = { numRuns: 150 };

/** pi(a|s) of one joint action, factor by factor. */
function probability(mdp: Mdp, policy: JointPolicy, s: number, j: number, without = -1): number {
  return actionsOf(mdp, j).reduce((product, a, i) => {
    if (i === without) return product;
    if (!isActive(mdp, s, i)) return product * Number(a === mdp.noop[i]);
    return product * policy[i]![s * mdp.nActions[i]! + a]!;
  }, 1);
}

/** J and d by following the state distribution until gamma^t is negligible. */
function byRollout(mdp: Mdp, policy: JointPolicy): { J: number; d: number[] } {
  const nJoint = jointActionCount(mdp);
  const d: number[] = Array(mdp.nStates).fill(0);
  let J = 0;
  let now = [...mdp.mu];
  for (let discount = 1; discount > 1e-14; discount *= mdp.gamma) {
    const next: number[] = Array(mdp.nStates).fill(0);
    for (let s = 0; s < mdp.nStates; s++) {
      d[s] = d[s]! + (1 - mdp.gamma) * discount * now[s]!;
      for (let j = 0; j < nJoint; j++) {
        const weight = now[s]! * probability(mdp, policy, s, j);
        J += discount * weight * mdp.rewards[s * nJoint + j]!;
        for (let t = 0; t < mdp.nStates; t++) {
          next[t] = next[t]! + weight * mdp.transitions[(s * nJoint + j) * mdp.nStates + t]!;
        }
      }
    }
    now = next;
  }
  return { J, d };
}

/** One agent, two states: `stay` pays 1 in state 0 and 0 in state 1; `move` changes the state and pays nothing. */
const twoStates: Mdp = {
  nStates: 2,
  nActions: [2],
  gamma: 0.5,
  transitions: Float64Array.of(1, 0, 0, 1, 0, 1, 1, 0),
  rewards: Float64Array.of(1, 0, 0, 0),
  mu: Float64Array.of(0, 1),
  active: Uint8Array.of(1, 1),
  noop: [0],
};

describe('evaluate', () => {
  it('solves a chain by hand: move once, then stay', () => {
    // V(0) = 1 / (1 - 1/2) = 2 and V(1) = 0 + V(0) / 2 = 1; state 1 is left at once, so d = (1/2, 1/2).
    const { J, V, Q, A, d } = evaluate(twoStates, [Float64Array.of(1, 0, 0, 1)]);
    expect([...V]).toEqual([2, 1]);
    expect(J).toBe(1);
    expect([...Q]).toEqual([2, 0.5, 0.5, 1]);
    expect([...A]).toEqual([0, -1.5, -0.5, 0]);
    expect([...d]).toEqual([0.5, 0.5]);
  });

  it.each([0, 0.3, 0.99])('gives E[r] / (1 - gamma) in the doorway at gamma %f', (gamma) => {
    const { model } = doorway.create({ agents: 3, collision: 2 }, gamma);
    const go = 0.2;
    const policy = Array.from({ length: 3 }, () => Float64Array.of(1 - go, go));
    // 3 p q^2 - 2 * 3 p^2 q - 4 p^3 with p = 0.2, q = 0.8.
    const reward = 3 * 0.2 * 0.64 - 6 * 0.04 * 0.8 - 4 * 0.008;
    expect(evaluate(model!, policy).J).toBeCloseTo(reward / (1 - gamma), 11);
  });

  it('agrees with following the state distribution step by step', () => {
    fc.assert(
      fc.property(scenario, ({ mdp, current, rMax }) => {
        const { J, d } = evaluate(mdp, current);
        const slow = byRollout(mdp, current);
        expect(Math.abs(J - slow.J)).toBeLessThanOrEqual((1e-11 * rMax) / (1 - mdp.gamma));
        for (let s = 0; s < mdp.nStates; s++) expect(Math.abs(d[s]! - slow.d[s]!)).toBeLessThanOrEqual(1e-11);
      }),
      { numRuns: 60 },
    );
  });

  it('has an occupancy that is a distribution, gives J as E_d[r] / (1 - gamma), and leaves E_pi A = 0', () => {
    fc.assert(
      fc.property(scenario, ({ mdp, current, rMax }) => {
        const evaluation = evaluate(mdp, current);
        const { J, d } = evaluation;
        const nJoint = jointActionCount(mdp);
        const rounding = (1e-11 * rMax) / (1 - mdp.gamma);
        expect(Math.min(...d)).toBeGreaterThanOrEqual(0);
        expect(Math.abs(d.reduce((sum, x) => sum + x, 0) - 1)).toBeLessThanOrEqual(1e-12);
        const reward = mdp.rewards.reduce((sum, r, pair) => {
          const s = Math.floor(pair / nJoint);
          return sum + d[s]! * probability(mdp, current, s, pair % nJoint) * r;
        }, 0);
        expect(Math.abs(J - reward / (1 - mdp.gamma))).toBeLessThanOrEqual(rounding);
        for (const f of expectedAdvantage(mdp, current, evaluation))
          expect(Math.abs(f)).toBeLessThanOrEqual(rounding);
      }),
      RUNS,
    );
  });

  it('keeps its accuracy with many states and gamma 0.999: a cycle of 200 states with one reward', () => {
    const nStates = 200;
    const transitions = new Float64Array(nStates * nStates);
    for (let s = 0; s < nStates; s++) transitions[s * nStates + ((s + 1) % nStates)] = 1;
    const mu = new Float64Array(nStates);
    mu[0] = 1;
    const rewards = mu.slice();
    const gamma = 0.999;
    const mdp: Mdp = {
      nStates,
      nActions: [1],
      gamma,
      transitions,
      rewards,
      mu,
      active: new Uint8Array(nStates),
      noop: [0],
    };
    const { V, d } = evaluate(mdp, [new Float64Array(nStates)]);
    for (let s = 0; s < nStates; s++) {
      const round = 1 - gamma ** nStates;
      expect(V[s]! * round).toBeCloseTo(gamma ** ((nStates - s) % nStates), 11);
      expect(d[s]!).toBeCloseTo(((1 - gamma) * gamma ** s) / round, 13);
    }
  });

  it('says what is wrong with a policy or a discount', () => {
    const rows = Float64Array.of(1, 0, 0, 1);
    expect(() => evaluate(twoStates, [])).toThrow('joint policy of 0 agents; the model has 1');
    expect(() => evaluate(twoStates, [Float64Array.of(1, 0)])).toThrow(
      'agent 0: 2 probabilities; allowed: 2 states x 2',
    );
    expect(() => evaluate(twoStates, [Float64Array.of(1, 0, 0.5, 0.4)])).toThrow(
      'agent 0, state 1: [0.5, 0.4]',
    );
    expect(() => evaluate(twoStates, [Float64Array.of(1, 0, 1.5, -0.5)])).toThrow('sum to 1');
    expect(() => evaluate(twoStates, [Float64Array.of(Number.NaN, 1, 1, 0)])).toThrow('agent 0, state 0');
    expect(() => evaluate({ ...twoStates, gamma: 1 }, [rows])).toThrow(
      'gamma 1; allowed: a number from 0 and below 1',
    );
  });
});

describe('exactAdvantageForAgent', () => {
  it('averages A over what the others do', () => {
    fc.assert(
      fc.property(scenario, ({ mdp, current, rMax }) => {
        const evaluation = evaluate(mdp, current);
        const nJoint = jointActionCount(mdp);
        mdp.nActions.forEach((count, agent) => {
          const wanted = new Float64Array(mdp.nStates * count);
          evaluation.A.forEach((a, pair) => {
            const s = Math.floor(pair / nJoint);
            if (!isActive(mdp, s, agent)) return;
            const own = actionsOf(mdp, pair % nJoint)[agent]!;
            wanted[s * count + own] =
              wanted[s * count + own]! + probability(mdp, current, s, pair % nJoint, agent) * a;
          });
          const actual = exactAdvantageForAgent(mdp, current, evaluation, agent);
          expect(actual.length).toBe(wanted.length);
          actual.forEach((x, cell) => {
            expect(Math.abs(x - wanted[cell]!)).toBeLessThanOrEqual((1e-12 * rMax) / (1 - mdp.gamma));
          });
        });
      }),
      RUNS,
    );
  });

  it('tells an agent at the doorway to go, until a predecessor goes', () => {
    const { model } = doorway.create({ agents: 3, collision: 2 }, 0.5);
    const waiting = Float64Array.of(1, 0);
    const nobody = [waiting, waiting, waiting];
    const first = exactAdvantageForAgent(model!, nobody, evaluate(model!, nobody), 0);
    expect([...first]).toEqual([0, 1]);
    const oneGoes = [Float64Array.of(0, 1), waiting, waiting];
    const second = exactAdvantageForAgent(model!, oneGoes, evaluate(model!, oneGoes), 1);
    // V = 1 / (1 - 1/2) = 2; going too pays -2 now instead of 1.
    expect([...second]).toEqual([0, -3]);
  });
});

describe('softmaxRows', () => {
  it('is a distribution per row, also for huge and impossible logits', () => {
    const rows = softmaxRows([0, Math.log(3), 1e4, -1e4, Number.NEGATIVE_INFINITY, 5], 2);
    [0.25, 0.75, 1, 0, 0, 1].forEach((p, index) => {
      expect(rows[index]).toBeCloseTo(p, 15);
    });
  });
});
