import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { collect, ofKind, tabularRun } from '../../test/support/collect.ts';
import type { Mdp } from '../exact/mdp.ts';
import { jointActionCount } from '../exact/policy.ts';
import { createCpuKernels } from '../kernels/cpu/index.ts';
import { relay } from './relay.ts';
import type { Task } from './task.ts';

const [LEFT, RIGHT, HAND] = [0, 1, 2] as const;

/** Where a joint action leads from a state, by name, and what it pays. */
function outcomes(task: Task, from: string, actions: readonly number[]) {
  const { nStates, transitions, rewards } = task.model!;
  const states = Array.from({ length: nStates }, (_, s) => s);
  const s = states.find((state) => task.observationName(state) === from)!;
  const pair = s * 3 ** task.nAgents + actions.reduce((index, a) => 3 * index + a, 0);
  const next = states.flatMap((t) => {
    const probability = transitions[pair * nStates + t]!;
    return probability > 0 ? [[task.observationName(t), Number(probability.toFixed(12))]] : [];
  });
  return { next: Object.fromEntries(next), reward: Number(rewards[pair]!.toFixed(12)) };
}

/** The largest J that any team, even one with a central mind, can reach: value iteration over joint actions. */
function optimum(mdp: Mdp): number {
  const { nStates, transitions, rewards, gamma, mu } = mdp;
  const nJoint = jointActionCount(mdp);
  let V = new Float64Array(nStates);
  for (let sweep = 0; sweep < 100; sweep++) {
    V = V.map((_, s) => {
      const values = Array.from({ length: nJoint }, (_, j) => {
        const row = transitions.subarray((s * nJoint + j) * nStates, (s * nJoint + j + 1) * nStates);
        return rewards[s * nJoint + j]! + gamma * row.reduce((sum, p, t) => sum + p * V[t]!, 0);
      });
      return Math.max(...values);
    });
  }
  return mu.reduce((sum, p, s) => sum + p * V[s]!, 0);
}

describe('relay', () => {
  const task = relay.create({ agents: 3, width: 3, slip: 0.2, stepCost: 0.01 }, 0.9);

  it.each([
    [2, 2, 6],
    [2, 7, 56],
    [3, 3, 39],
    [3, 7, 399],
    [4, 3, 120],
  ])('%i runners on %i columns have %i states, each with its own name', (agents, width, states) => {
    const { observationCount, observationName } = relay.create({ agents, width }, 0.9);
    expect(observationCount).toBe(states);
    const names = Array.from({ length: states }, (_, s) => observationName(s));
    expect(new Set(names).size).toBe(states);
    expect(names.at(-1)).toBe('delivered');
  });

  it('moves every runner at once, each step failing alone; walls hold', () => {
    expect(outcomes(task, 'A*0 B2 C1', [RIGHT, LEFT, HAND])).toEqual({
      next: { 'A*1 B1 C1': 0.64, 'A*1 B2 C1': 0.16, 'A*0 B1 C1': 0.16, 'A*0 B2 C1': 0.04 },
      reward: -0.01,
    });
    expect(outcomes(task, 'A*0 B2 C2', [LEFT, RIGHT, RIGHT]).next).toEqual({ 'A*0 B2 C2': 1 });
  });

  it('hands over only where both meet and both choose it', () => {
    expect(outcomes(task, 'A*1 B1 C0', [HAND, HAND, HAND]).next).toEqual({ 'B*1 C0': 1 });
    expect(outcomes(task, 'A*1 B1 C0', [HAND, HAND, RIGHT]).next).toEqual({ 'B*1 C1': 0.8, 'B*1 C0': 0.2 });
    expect(outcomes(task, 'A*1 B1 C0', [HAND, LEFT, HAND]).next).toEqual({
      'A*1 B0 C0': 0.8,
      'A*1 B1 C0': 0.2,
    });
    expect(outcomes(task, 'A*1 B2 C1', [HAND, HAND, HAND]).next).toEqual({ 'A*1 B2 C1': 1 });
    expect(outcomes(task, 'A*0 B1 C1', [HAND, HAND, HAND]).next).toEqual({ 'A*0 B1 C1': 1 });
  });

  it('pays when the last runner has the baton in the last column, also when it is handed over there', () => {
    expect(outcomes(task, 'C*1', [HAND, HAND, RIGHT])).toEqual({
      next: { delivered: 0.8, 'C*1': 0.2 },
      reward: 0.79,
    });
    expect(outcomes(task, 'B*2 C2', [LEFT, HAND, HAND])).toEqual({ next: { delivered: 1 }, reward: 0.99 });
    expect(outcomes(task, 'B*2 C1', [HAND, HAND, RIGHT]).next).toEqual({ 'B*2 C2': 0.8, 'B*2 C1': 0.2 });
  });

  it('starts with A and the baton in column 0, the others anywhere', () => {
    const { mu } = task.model!;
    const starts = [...mu].flatMap((p, s) => (p > 0 ? [[task.observationName(s), p]] : []));
    const anywhere = [0, 1, 2].flatMap((b) => [0, 1, 2].map((c) => [`A*0 B${b} C${c}`, 1 / 9]));
    expect(starts).toEqual(anywhere);
  });

  it('retires those who have handed over', () => {
    const { active } = task.model!;
    const acting = (name: string) => {
      const s = Array.from({ length: 39 }, (_, k) => k).find((k) => task.observationName(k) === name)!;
      return [...active.subarray(3 * s, 3 * s + 3)];
    };
    expect(['A*0 B0 C0', 'B*2 C0', 'C*0', 'delivered'].map(acting)).toEqual([
      [1, 1, 1],
      [0, 1, 1],
      [0, 0, 1],
      [0, 0, 0],
    ]);
  });

  it('maps every scene to the runners still on the track', () => {
    const { map, observationName } = task;
    map!.pieces.forEach((pieces, state) => {
      const name = pieces.map(({ x, agent, carries }) => `${'ABC'[agent!]}${carries ? '*' : ''}${x}`);
      expect(name.join(' ') || 'delivered').toBe(observationName(state));
      expect(pieces.every(({ y, agent }) => y === agent)).toBe(true);
    });
    expect([map!.width, map!.height, map!.goals]).toEqual([3, 3, [{ x: 2, y: 2 }]]);
  });

  it('says which width fits when a model would not, and builds the largest that does', () => {
    expect(() => relay.create({ agents: 4, width: 4 }, 0.9)).toThrow(
      'task.width: given 4 with 4 agents, 340 states; allowed: a whole number from 2 to 3 with 4 agents',
    );
    const largest = relay.create({ agents: 3, width: 7 }, 0.9).model!;
    expect(largest.transitions.length).toBe(399 ** 2 * 27);
  });

  it('names the parameter, what was given and what is allowed', () => {
    expect(() => relay.create({ width: 8 }, 0.9)).toThrow(
      'task.width: given 8; allowed: a whole number from 2 to 7',
    );
    expect(() => relay.create({ agents: 1 }, 0.9)).toThrow('task.agents: given 1');
    expect(() => relay.create({ slip: 1 }, 0.9)).toThrow('task.slip: given 1');
  });

  it('the preset: no update lowers J, and the race ends within 5 % of the quickest there is', async () => {
    const preset = parse(readFileSync('public/presets/relay.yaml', 'utf8'));
    const run = await tabularRun(preset, createCpuKernels());
    const ends = ofKind(await collect(run), 'stageEnd');
    const best = optimum(run.task.model!);
    await run.dispose();
    expect(ends.some((end) => end.monotonicityViolated || end.violatingUpdates > 0)).toBe(false);
    expect(ends.at(-1)!.J.value).toBeGreaterThan(0.95 * best);
    expect(ends.at(-1)!.J.value).toBeLessThanOrEqual(best + 1e-9);
  });
});
