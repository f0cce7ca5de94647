import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { collect, ofKind, tabularRun } from '../../test/support/collect.ts';
import { createCpuKernels } from '../kernels/cpu/index.ts';
import { climbing } from './climbing.ts';

/** Rewards of all joint actions, agent 0 varying slowest. */
const rewardsOf = (parameters: Record<string, number | string>) => [
  ...climbing.create(parameters, 0).model!.rewards,
];

/** J at the end of the preset under changes to its task. */
async function play(preset: string, task: object, seed: number): Promise<number> {
  const config = parse(readFileSync(`public/presets/${preset}.yaml`, 'utf8'));
  const run = await tabularRun({ ...config, seed, task: { ...config.task, ...task } }, createCpuKernels());
  const ends = ofKind(await collect(run), 'stageEnd');
  await run.dispose();
  expect(ends.some((end) => end.monotonicityViolated || end.violatingUpdates > 0)).toBe(false);
  return ends.at(-1)!.J.value;
}

describe('climbing', () => {
  it('pays two agents by the published tables', () => {
    expect(rewardsOf({})).toEqual([11, -30, 0, -30, 7, 6, 0, 0, 5]);
    expect(rewardsOf({ game: 'penalty', penalty: -7 })).toEqual([10, 0, -7, 0, 2, 0, -7, 0, 10]);
  });

  it('pays three agents the worst of their pairs', () => {
    const rewards = rewardsOf({ agents: 3 });
    const pay = (...actions: number[]) => rewards[actions.reduce((index, a) => 3 * index + a, 0)];
    expect([pay(0, 0, 0), pay(1, 1, 1), pay(2, 2, 2)]).toEqual([11, 7, 5]);
    // (b, b, c): 7, 6, 6. (b, c, c): 6, 6, 5. (c, b, c): 0, 5, 6. (a, a, b): 11, -30, -30.
    expect([pay(1, 1, 2), pay(1, 2, 2), pay(2, 1, 2), pay(0, 0, 1)]).toEqual([6, 5, 0, -30]);
  });

  it('hides its best outcome: against a uniform partner a, b, c are worth -19/3, -17/3, 5/3', () => {
    const rewards = rewardsOf({});
    const worth = [0, 1, 2].map((a) => rewards.slice(3 * a, 3 * a + 3).reduce((sum, r) => sum + r, 0) / 3);
    expect(worth).toEqual([-19 / 3, -17 / 3, 5 / 3]);
  });

  it.each([2, 3])('has no single agent of %i gain anywhere on the way down from (b, ..., b)', (agents) => {
    const rewards = rewardsOf({ agents });
    const all = (3 ** agents - 1) / 2;
    for (let agent = 0; agent < agents; agent++) {
      for (const change of [-1, 1]) {
        expect(rewards[all + change * 3 ** (agents - 1 - agent)]).toBeLessThan(rewards[all]!);
      }
    }
  });

  it('sat, from near uniform, climbs to 7 and not to 11, and three agents stop at 5', async () => {
    for (const seed of [0, 1, 2]) expect(await play('climbing', {}, seed)).toBeCloseTo(7, 2);
    expect(await play('climbing', { agents: 3 }, 0)).toBeCloseTo(5, 2);
  });

  it('a high penalty leads to the safe 2, a low one to 10', async () => {
    for (const seed of [0, 1, 2]) {
      expect(await play('penalty', {}, seed)).toBeCloseTo(2, 2);
      expect(await play('penalty', { penalty: -5 }, seed)).toBeCloseTo(10, 2);
    }
  });

  it('bounds every return by the largest payoff for ever', () => {
    expect(climbing.create({}, 0.5).maxReturn).toBe(60);
    expect(climbing.create({ game: 'penalty', penalty: -100 }, 0).maxReturn).toBe(100);
    expect(climbing.create({ game: 'penalty', penalty: 0 }, 0).maxReturn).toBe(10);
  });

  it('names the parameter, what was given and what is allowed', () => {
    expect(() => climbing.create({ game: 'chess' }, 0)).toThrow(
      'task.game: given "chess"; allowed: one of climbing, penalty',
    );
    expect(() => climbing.create({ game: 'penalty', penalty: 1 }, 0)).toThrow(
      'task.penalty: given 1; allowed: a number from -100 to 0',
    );
    expect(() => climbing.create({ agents: 4 }, 0)).toThrow('task.agents: given 4');
    expect(() => climbing.create({}, 1)).toThrow('sat.gamma: given 1');
  });
});
