import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { collect, ofKind, tabularRun } from '../../test/support/collect.ts';
import { evaluate } from '../exact/evaluate.ts';
import { createCpuKernels } from '../kernels/cpu/index.ts';
import { chain } from './chain.ts';
import type { Task } from './task.ts';

const [WAIT, HIGH, LOW] = [0, 1, 2];

/** Where a joint action leads from a state, by name, and what it pays; two agents. */
function outcomes(task: Task, from: string, actions: readonly [number, number]) {
  const { nStates, transitions, rewards } = task.model!;
  const states = Array.from({ length: nStates }, (_, s) => s);
  const s = states.find((state) => task.observationName(state) === from)!;
  const pair = s * 9 + 3 * actions[0] + actions[1];
  const next = states.flatMap((t) => {
    const probability = transitions[pair * nStates + t]!;
    return probability > 0 ? [[task.observationName(t), probability]] : [];
  });
  return { next: Object.fromEntries(next), reward: rewards[pair]! };
}

/** Events of the preset under a scheme. */
async function play(scheme: string, seed: number) {
  const preset = parse(readFileSync('public/presets/chain.yaml', 'utf8'));
  const run = await tabularRun({ ...preset, seed, sat: { ...preset.sat, scheme } }, createCpuKernels());
  const ends = ofKind(await collect(run), 'stageEnd');
  await run.dispose();
  return {
    J: ends.at(-1)!.J.value,
    stagesThatFell: ends.filter((end) => end.monotonicityViolated).length,
    updatesThatFell: ends.reduce((sum, end) => sum + end.violatingUpdates, 0),
  };
}

describe('chain', () => {
  // Cells 0 1 | 2 3, a door at cell 1.
  const task = chain.create({ agents: 2, section: 2, slip: 0.25, jam: 0.5 }, 0.9);

  it.each([
    ['upper 0', [HIGH, WAIT], { 'upper 1, door': 0.75, 'upper 0': 0.25 }],
    ['lower 0', [LOW, WAIT], { 'lower 1, door': 0.75, 'lower 0': 0.25 }],
    ['upper 0', [WAIT, HIGH], { 'upper 0': 1 }],
    ['upper 0', [LOW, WAIT], { 'upper 0': 1 }],
    ['upper 3', [HIGH, LOW], { 'upper 2': 1 }],
    ['lower 3', [HIGH, HIGH], { 'lower 2': 1 }],
    ['lower 2', [HIGH, HIGH], { 'lower 2': 1 }],
  ] as const)('from %s, %j leads to %j', (from, actions, next) => {
    expect(outcomes(task, from, [actions[0]!, actions[1]!])).toEqual({ next, reward: 0 });
  });

  it.each([
    [[HIGH, WAIT], { 'upper 2': 0.75, 'lower 1, door': 0.25 }, 0],
    [[WAIT, HIGH], { 'upper 2': 0.75, 'lower 1, door': 0.25 }, 0],
    [[LOW, WAIT], { 'lower 2': 0.75, 'lower 1, door': 0.25 }, 0],
    [[WAIT, WAIT], { 'lower 1, door': 1 }, 0],
    [[HIGH, HIGH], { 'lower 0': 1 }, -0.5],
    [[HIGH, LOW], { 'lower 0': 1 }, -0.5],
  ] as const)('at a door of the lower lane %j leads to %j and pays %d', (actions, next, reward) => {
    expect(outcomes(task, 'lower 1, door', [actions[0]!, actions[1]!])).toEqual({ next, reward });
  });

  it('pays on average 1 - slip for the step out', () => {
    expect(outcomes(task, 'upper 3', [WAIT, HIGH])).toEqual({
      next: { end: 0.75, 'upper 3': 0.25 },
      reward: 0.75,
    });
  });

  it('lets the owner of a section act, at its door the next agent too, and nobody at the end', () => {
    const { model } = chain.create({ agents: 3, section: 2 }, 0.9);
    const acting = Array.from({ length: model!.nStates }, (_, s) =>
      [0, 1, 2].filter((agent) => model!.active[s * 3 + agent] === 1),
    );
    expect(acting).toEqual([[0], [0], [0, 1], [0, 1], [1], [1], [1, 2], [1, 2], [2], [2], [2], [2], []]);
  });

  it('starts from tables that wait with the habit', () => {
    const logits = chain.create({ habit: 0.8 }, 0.9).initialLogits!(0);
    expect(logits.map(Math.exp).map((p) => Number(p.toFixed(12)))).toEqual([0.8, 0.1, 0.1]);
  });

  it('maps every state but the end to its cell', () => {
    const { map, observationName, observationCount } = task;
    expect([map!.width, map!.height, map!.pieces.length]).toEqual([4, 2, observationCount]);
    map!.pieces.slice(0, -1).forEach(([walker], state) => {
      expect(observationName(state)).toContain(`${['upper', 'lower'][walker!.y]} ${walker!.x}`);
    });
    expect(map!.pieces.at(-1)).toEqual([]);
  });

  it('bounds every return by delivery, or by a jam for ever', () => {
    expect(chain.create({ jam: 0.3 }, 0.5).maxReturn).toBe(1);
    expect(chain.create({ jam: 2 }, 0.5).maxReturn).toBe(4);
  });

  it('names the parameter, what was given and what is allowed', () => {
    expect(() => chain.create({ agents: 7 }, 0.9)).toThrow(
      'task.agents: given 7; allowed: a whole number from 2 to 6',
    );
    expect(() => chain.create({ section: 0 }, 0.9)).toThrow('task.section: given 0');
    expect(() => chain.create({ habit: 1 }, 0.9)).toThrow('task.habit: given 1');
    expect(() => chain.create({}, -0.1)).toThrow('sat.gamma: given -0.1');
  });
});

describe('the preset', () => {
  // A step succeeds with probability 1 - slip = 0.9 and takes f = 0.9 g / (1 - 0.1 g) of the value; six steps, and the
  // reward comes with the last, not after it: J* = f^6 / g.
  const best = ((0.9 * 0.95) / (1 - 0.1 * 0.95)) ** 6 / 0.95;

  it('a team of which only the owner goes at doors reaches the closed form', () => {
    const { model, initialLogits: _, ...task } = chain.create({ agents: 6, section: 1 }, 0.95);
    const policy = task.nActions.map((count, agent) =>
      Float64Array.from({ length: model!.nStates * count }, (_, index) => {
        const state = Math.floor(index / count);
        const right = Math.floor(state / 2) === agent ? 1 + (state % 2) : WAIT;
        return Number(index % count === right);
      }),
    );
    expect(evaluate(model!, policy).J).toBeCloseTo(best, 12);
  });

  it('sat: no update ever lowers J, and the team ends within 1 % of the best', async () => {
    for (const seed of [0, 1, 2, 3]) {
      const { J, stagesThatFell, updatesThatFell } = await play('sat', seed);
      expect([stagesThatFell, updatesThatFell]).toEqual([0, 0]);
      expect(J).toBeGreaterThan(0.99 * best);
    }
  });

  it('simultaneous: judged on old data the doors jam, J falls in many stages, and the team ends behind', async () => {
    for (const seed of [0, 1]) {
      const { J, stagesThatFell } = await play('simultaneous', seed);
      expect(stagesThatFell).toBeGreaterThan(5);
      expect(J).toBeLessThan(0.9 * best);
    }
  });
});
