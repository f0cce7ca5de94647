/** What every enumerable task must keep: one set of rules behind the model and the episodes, and the theory's bounds. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { collect, ofKind, tabularRun } from '../../test/support/collect.ts';
import { actionsOf } from '../../test/support/randomMdp.ts';
import { agentUpdate } from '../exact/bounds.ts';
import { evaluate } from '../exact/evaluate.ts';
import type { JointPolicy, Mdp } from '../exact/mdp.ts';
import { isActive, jointActionCount, softmaxRows } from '../exact/policy.ts';
import { createCpuKernels } from '../kernels/cpu/index.ts';
import { Rng } from '../kernels/rng.ts';
import { chain } from './chain.ts';
import { modelFits } from './enumerable.ts';
import { taskDefinition, taskDefinitions } from './index.ts';
import type { Task } from './task.ts';

const VARIANTS: readonly (readonly [string, Record<string, number | string>])[] = [
  ['doorway', { agents: 3 }],
  ['climbing', {}],
  ['climbing', { game: 'penalty', agents: 3 }],
  ['chain', { agents: 4, section: 1 }],
  ['chain', { agents: 2, section: 3, jam: 0, slip: 0 }],
  ['relay', { agents: 2, width: 5 }],
  ['relay', { agents: 3, width: 3, slip: 0.3, stepCost: 0.1 }],
];

const make = (name: string, parameters: Record<string, number | string>, gamma: number): Task =>
  taskDefinition(name)!.create(parameters, gamma);

function tables(mdp: Mdp, rng: Rng, scale: number): Float64Array[] {
  return mdp.nActions.map((count) =>
    Float64Array.from({ length: mdp.nStates * count }, () => scale * (2 * rng.uniform() - 1)),
  );
}

const probabilities = (mdp: Mdp, logits: readonly Float64Array[]): Float64Array[] =>
  logits.map((table, agent) => softmaxRows(table, mdp.nActions[agent]!));

/** The action drawn from row `state` of agent `agent`. */
function choose(mdp: Mdp, policy: JointPolicy, state: number, agent: number, rng: Rng): number {
  const count = mdp.nActions[agent]!;
  let left = rng.uniform();
  for (let a = 0; a < count - 1; a++) {
    left -= policy[agent]![state * count + a]!;
    if (left < 0) return a;
  }
  return count - 1;
}

it('the variants cover every enumerable task', () => {
  const enumerable = taskDefinitions.filter((definition) => definition.enumerable);
  expect([...new Set(VARIANTS.map(([name]) => name))]).toEqual(enumerable.map(({ name }) => name));
});

describe.each(VARIANTS)('%s %j', (name, parameters) => {
  it('has a model that is one: rows sum to 1, the start too, and inactive agents change nothing', () => {
    const { model } = make(name, parameters, 0.9);
    const { nStates, transitions, rewards, mu } = model!;
    const nJoint = jointActionCount(model!);
    expect(mu.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 12);
    for (let s = 0; s < nStates; s++) {
      for (let j = 0; j < nJoint; j++) {
        const row = transitions.subarray((s * nJoint + j) * nStates, (s * nJoint + j + 1) * nStates);
        expect(row.every((p) => p >= 0)).toBe(true);
        expect(row.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 12);
        const idle = actionsOf(model!, j).reduce(
          (index, a, i) => index * model!.nActions[i]! + (isActive(model!, s, i) ? a : model!.noop[i]!),
          0,
        );
        expect(row).toEqual(
          transitions.subarray((s * nJoint + idle) * nStates, (s * nJoint + idle + 1) * nStates),
        );
        expect(rewards[s * nJoint + j]).toBe(rewards[s * nJoint + idle]);
      }
    }
  });

  it('stays for ever, without reward, where nobody acts, and only there', () => {
    const { model } = make(name, parameters, 0.9);
    const { nStates, transitions, rewards, active, nActions } = model!;
    const nJoint = jointActionCount(model!);
    for (let s = 0; s < nStates; s++) {
      if (active.subarray(s * nActions.length, (s + 1) * nActions.length).includes(1)) continue;
      expect(model!.mu[s]).toBe(0);
      for (let j = 0; j < nJoint; j++) {
        expect(rewards[s * nJoint + j]).toBe(0);
        expect(transitions[(s * nJoint + j) * nStates + s]).toBe(1);
      }
    }
  });

  it('pays sampled episodes what the model says, on average', () => {
    const gamma = 0.8;
    const task = make(
      name,
      { ...parameters, [name === 'doorway' || name === 'climbing' ? 'rounds' : 'horizon']: 40 },
      gamma,
    );
    const model = task.model!;
    const policy = probabilities(model, tables(model, Rng.of(3, 'init'), 1.5));
    const episodes = 2000;
    const returns = Array.from({ length: episodes }, (_, k) => {
      const rng = Rng.of(7, 'evaluation', k);
      const episode = task.start(rng);
      let state = episode.prompt[0]!;
      let total = 0;
      for (let step = 0, over = false; !over; step++) {
        const acting = episode.actors();
        const at = state;
        expect(acting).toEqual(model.nActions.flatMap((_count, i) => (isActive(model, at, i) ? [i] : [])));
        const actions = model.nActions.map((_count, i) => choose(model, policy, at, i, rng));
        const outcome = episode.act(actions, rng);
        total += gamma ** step * outcome.reward;
        over = outcome.end !== undefined;
        state = outcome.observation;
      }
      return total;
    });
    const mean = returns.reduce((sum, x) => sum + x, 0) / episodes;
    const variance = returns.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (episodes - 1);
    // Four standard errors, and at most gamma^40 of the largest return lies beyond the cut.
    const slack = 4 * Math.sqrt(variance / episodes) + gamma ** 40 * task.maxReturn;
    expect(Math.abs(mean - evaluate(model, policy).J)).toBeLessThan(slack);
  });

  it('no proved bound exceeds the true change of any update', () => {
    const property = fc.property(
      fc.record({
        seed: fc.integer({ min: 0, max: 2 ** 31 }),
        gamma: fc.constantFrom(0, 0.5, 0.9, 0.99),
        change: fc.constantFrom(0.01, 0.3, 3),
      }),
      ({ seed, gamma, change }) => {
        const model = make(name, parameters, gamma).model!;
        const rng = Rng.of(seed, 'init');
        const before = probabilities(model, tables(model, rng, 2));
        const agent = rng.integer(model.nActions.length);
        const moved = before[agent]!.map((p) => Math.log(p) + change * (2 * rng.uniform() - 1));
        const after = before.with(agent, softmaxRows(moved, model.nActions[agent]!));
        const { dJ, lowerBounds, oracleUpperBound, aMax } = agentUpdate(model, before, after, agent);
        const rounding = 1e-9 * (1 + aMax / (1 - gamma));
        for (const bound of Object.values(lowerBounds)) expect(bound).toBeLessThanOrEqual(dJ + rounding);
        expect(oracleUpperBound).toBeGreaterThanOrEqual(dJ - rounding);
      },
    );
    fc.assert(property, { numRuns: 25, seed: 1 });
  });

  it('learns with exact advantages, one agent at a time, and J never falls', async () => {
    const preset = parse(readFileSync('public/presets/doorway.yaml', 'utf8'));
    const config = {
      ...preset,
      stages: 4,
      task: { name, ...parameters },
      sat: { ...preset.sat, gamma: 0.9 },
    };
    const run = await tabularRun(config, createCpuKernels());
    const events = await collect(run);
    await run.dispose();
    const ends = ofKind(events, 'stageEnd');
    expect(ends.map((end) => [end.monotonicityViolated, end.violatingUpdates])).toEqual(
      ends.map(() => [false, 0]),
    );
    expect(ends.at(-1)!.J.value).toBeGreaterThan(ofKind(events, 'stageStart')[0]!.J.value);
  });
});

describe('sampled episodes', () => {
  it('draw branches with the probabilities of the model', () => {
    const task = chain.create({ agents: 2, section: 2, slip: 0.3 }, 0.9);
    const model = task.model!;
    const counts = new Map<number, number>();
    const episodes = 4000;
    for (let k = 0; k < episodes; k++) {
      const rng = Rng.of(2, 'transitions', k);
      const episode = task.start(rng);
      const { observation } = episode.act([1 + episode.prompt[0]!, 0], rng);
      counts.set(observation, (counts.get(observation) ?? 0) + 1);
    }
    // Both lanes are as likely, each agent 0 steps forward in its lane, and 3 in 10 steps fail.
    expect([...counts.keys()].sort()).toEqual([0, 1, 2, 3]);
    for (const [state, expected] of [
      [0, 0.15],
      [1, 0.15],
      [2, 0.35],
      [3, 0.35],
    ] as const) {
      const error = 4 * Math.sqrt((expected * (1 - expected)) / episodes);
      expect(Math.abs(counts.get(state)! / episodes - expected)).toBeLessThan(error);
    }
    expect(model.mu.slice(0, 2)).toEqual(Float64Array.of(0.5, 0.5));
  });

  it('cannot go on after the end or the cut', () => {
    const cut = chain.create({ agents: 2, section: 1, horizon: 1 }, 0.9).start(Rng.of(0, 'prompts'));
    expect(cut.act([0, 0], Rng.of(0, 'transitions')).end).toEqual({ kind: 'truncated', why: 'horizon' });
    expect(() => cut.act([0, 0], Rng.of(0, 'transitions'))).toThrow('chain: the episode was cut off after 1');
    const over = chain.create({ agents: 2, section: 1, slip: 0 }, 0.9).start(Rng.of(0, 'prompts'));
    over.act([1, 0], Rng.of(0, 'transitions'));
    expect(over.act([0, 1], Rng.of(0, 'transitions'))).toEqual({
      reward: 1,
      observation: 4,
      end: { kind: 'terminated', why: 'through' },
    });
    expect(() => over.act([0, 1], Rng.of(0, 'transitions'))).toThrow('chain: the episode is over');
  });

  it('name an action or a state that does not exist', () => {
    const task = chain.create({ agents: 2, section: 1 }, 0.9);
    expect(() => task.start(Rng.of(0, 'prompts')).act([3, 0], Rng.of(0, 'transitions'))).toThrow(
      'chain: agent 0 was given action 3; allowed: a whole number from 0 to 2',
    );
    expect(() => task.observationName(5)).toThrow('chain: observation 5; allowed: a state from 0 to 4');
  });
});

describe('size', () => {
  it('every combination of options that a chain allows can be written out; 5 million entries are the limit', () => {
    // 2 n m + 1 states and 3^n joint actions: largest at 6 agents and sections of 6.
    expect(chain.create({ agents: 6, section: 6 }, 0.9).model!.transitions.length).toBe(73 ** 2 * 3 ** 6);
    expect(modelFits(73, 3 ** 6)).toBe(true);
    expect([modelFits(1000, 5), modelFits(1001, 5)]).toEqual([true, false]);
  });
});
