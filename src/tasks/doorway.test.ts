import { describe, expect, it } from 'vitest';
import { Rng } from '../kernels/rng.ts';
import { doorway } from './doorway.ts';

const rng = () => Rng.of(1, 'prompts');

/** The gain of going over waiting, when each of `others` agents goes with probability p, from the reward table. */
function gainOfGoing(others: number, p: number, reward: (going: number) => number): number {
  const choose = (n: number, k: number): number => (k === 0 ? 1 : (choose(n - 1, k - 1) * n) / k);
  return Array.from({ length: others + 1 }, (_, k) => k).reduce(
    (sum, k) => sum + choose(others, k) * p ** k * (1 - p) ** (others - k) * (reward(k + 1) - reward(k)),
    0,
  );
}

describe('doorway', () => {
  it('pays 0, 1, -c, -2c for 0, 1, 2, 3 agents that go', () => {
    const { model } = doorway.create({ agents: 3, collision: 2 }, 0.5);
    // j in binary, agent 0 first: www, wwg, wgw, wgg, gww, gwg, ggw, ggg.
    expect([...model!.rewards]).toEqual([0, 1, 1, -2, 1, -2, -2, -4]);
    expect([...model!.transitions]).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
  });

  it.each([2, 3, 6])('gives %i agents the same rewards in sampled episodes and in the model', (agents) => {
    const task = doorway.create({ agents, collision: 0.7, rounds: 1 }, 0.9);
    for (let j = 0; j < 2 ** agents; j++) {
      const actions = [...j.toString(2).padStart(agents, '0')].map(Number);
      const { reward, observation, end } = task.start(rng()).act(actions, rng());
      expect(reward).toBe(task.model!.rewards[j]);
      expect(observation).toBe(0);
      expect(end).toEqual({ kind: 'truncated', why: 'horizon' });
    }
  });

  it('cuts the episode off after `rounds` rounds, all agents acting in each, within its columns', () => {
    const task = doorway.create({ agents: 2, rounds: 3 }, 0.9);
    const episode = task.start(rng());
    expect(episode.prompt).toEqual([0]);
    const ends = [0, 1, 2].map(() => {
      expect(episode.actors()).toEqual([0, 1]);
      return episode.act([1, 0], rng()).end;
    });
    expect(ends).toEqual([undefined, undefined, { kind: 'truncated', why: 'horizon' }]);
    expect(task.columns).toBe(3);
    expect(() => episode.act([1, 0], rng())).toThrow('cut off after 3 rounds');
  });

  it('makes each agent gain from going while the others hold back, and all lose by going at once', () => {
    for (const [agents, collision] of [
      [2, 2],
      [3, 2],
      [3, 0.1],
      [6, 10],
    ] as const) {
      const { model } = doorway.create({ agents, collision }, 0);
      const alone = model!.rewards[1]!;
      const nobody = model!.rewards[0]!;
      const everybody = model!.rewards[2 ** agents - 1]!;
      expect(alone).toBeGreaterThan(nobody);
      expect(everybody).toBeLessThan(nobody);
    }
  });

  it('has a threshold below which going pays, as its header derives', () => {
    const reward = (going: number) => doorway.create({ agents: 6 }, 0).model!.rewards[2 ** going - 1]!;
    const derived = (m: number, p: number) =>
      (1 - p) ** m - m * p * (1 - p) ** (m - 1) - 2 * (1 - (1 - p) ** m);
    for (const p of [0, 0.05, 0.1, 0.13, 0.14, 0.3, 1]) {
      expect(gainOfGoing(2, p, reward)).toBeCloseTo(derived(2, p), 12);
      expect(gainOfGoing(5, p, reward)).toBeCloseTo(derived(5, p), 12);
    }
    // n = 3, c = 2: 1 - 8 p + 5 p^2 = 0 at p = (4 - sqrt 11) / 5 = 0.1367.
    const threshold = (4 - Math.sqrt(11)) / 5;
    expect(gainOfGoing(2, threshold, reward)).toBeCloseTo(0, 12);
    expect(gainOfGoing(2, threshold - 0.01, reward)).toBeGreaterThan(0);
    expect(gainOfGoing(2, threshold + 0.01, reward)).toBeLessThan(0);
  });

  it('bounds every return by the worst round for ever', () => {
    expect(doorway.create({ agents: 3, collision: 2 }, 0.5).maxReturn).toBe(8);
    expect(doorway.create({ agents: 3, collision: 0 }, 0.5).maxReturn).toBe(2);
    expect(doorway.create({ agents: 3, collision: 2 }, 0).maxReturn).toBe(4);
  });

  it('names the parameter, what was given and what is allowed', () => {
    expect(() => doorway.create({ agents: 7 }, 0.5)).toThrow(
      'task.agents: given 7; allowed: a whole number from 2 to 6',
    );
    expect(() => doorway.create({ agents: 2.5 }, 0.5)).toThrow('task.agents: given 2.5');
    expect(() => doorway.create({ collision: -1 }, 0.5)).toThrow(
      'task.collision: given -1; allowed: a number from 0 to 10',
    );
    expect(() => doorway.create({ rounds: 0 }, 0.5)).toThrow('task.rounds: given 0');
    expect(() => doorway.create({}, 1)).toThrow('sat.gamma: given 1; allowed: a number from 0 and below 1');
    expect(() => doorway.create({}, Number.NaN)).toThrow('sat.gamma: given NaN');
  });

  it('rejects an action that does not exist', () => {
    const episode = doorway.create({ agents: 2 }, 0.5).start(rng());
    expect(() => episode.act([0, 2], rng())).toThrow(
      'agent 1 was given action 2; allowed: a whole number from 0 to 1',
    );
    expect(() => episode.act([0], rng())).toThrow('agent 1 was given action undefined');
  });
});
