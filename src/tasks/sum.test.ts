import { describe, expect, it } from 'vitest';
import { Rng } from '../kernels/rng.ts';
import { sum } from './sum.ts';
import type { Episode, Task } from './task.ts';

const unused = Rng.of(0, 'transitions');

/** The prompt as a reader sees it, e.g. `47+85=`. */
const text = (task: Task, episode: Episode) =>
  episode.prompt.map((token) => task.observationName(token)).join('');

/** Digits of the right answer in writing order, from the prompt's text and integer addition. */
function answerOf(prompt: string, digits: number, reversed: boolean): number[] {
  const [a, b] = prompt.slice(0, -1).split('+').map(Number);
  const written = [...String(a! + b!).padStart(digits + 1, '0')].map(Number);
  return reversed ? written.reverse() : written;
}

/** Writes `answer` and returns the last outcome. */
function write(task: Task, episode: Episode, answer: readonly number[]) {
  const outcomes = answer.map((token) => episode.act(Array(task.nAgents).fill(token), unused));
  expect(outcomes.slice(0, -1).every((o) => o.reward === 0 && o.end === undefined)).toBe(true);
  expect(outcomes.map((o) => o.observation)).toEqual(answer);
  return outcomes.at(-1)!;
}

/** Episodes of one seed until `wanted` different prompts have been seen, one episode each. */
function distinctPrompts(task: Task, wanted: number): Map<string, () => Episode> {
  const seen = new Map<string, () => Episode>();
  for (let k = 0; seen.size < wanted && k < 20_000; k++) {
    const start = () => task.start(Rng.of(7, 'prompts', k));
    const prompt = text(task, start());
    if (!seen.has(prompt)) seen.set(prompt, start);
  }
  return seen;
}

describe('sum', () => {
  it.each([true, false])(
    'pays for the right answer to all 100 prompts of one digit (reversed %s)',
    (reversed) => {
      const task = sum.create({ digits: 1, reversed }, 0.99);
      const prompts = distinctPrompts(task, 100);
      expect(prompts.size).toBe(100);
      for (const [prompt, start] of prompts) {
        expect(prompt).toMatch(/^\d\+\d=$/);
        const answer = answerOf(prompt, 1, reversed);
        expect(write(task, start(), answer)).toMatchObject({
          reward: 1,
          end: { kind: 'terminated', why: 'solved' },
        });
      }
    },
  );

  it('rejects every answer with one wrong token, wherever it is', () => {
    const task = sum.create({ digits: 2 }, 0.99);
    for (const [prompt, start] of distinctPrompts(task, 5)) {
      const answer = answerOf(prompt, 2, true);
      for (let position = 0; position < 3; position++) {
        for (let token = 0; token < 12; token++) {
          if (token === answer[position]) continue;
          const outcome = write(task, start(), answer.with(position, token));
          expect(outcome).toMatchObject({ reward: 0, end: { kind: 'terminated', why: 'wrong' } });
        }
      }
    }
  });

  it.each([
    [1, false],
    [2, true],
    [3, true],
    [3, false],
  ])('lets the expert solve %i digits (reversed %s)', (digits, reversed) => {
    const task = sum.create({ digits, reversed, agents: 2 }, 0.99);
    for (let k = 0; k < 50; k++) {
      const episode = task.start(Rng.of(3, 'prompts', k));
      expect(text(task, episode)).toHaveLength(2 * digits + 2);
      const answer = answerOf(text(task, episode), digits, reversed);
      const outcomes = answer.map((digit) => {
        const [actor] = episode.actors();
        const expert = episode.expert!();
        expect(expert[actor!]).toBe(digit);
        expect(expert.filter((_, agent) => agent !== actor).every((action) => action === 0)).toBe(true);
        return episode.act(expert, unused);
      });
      expect(outcomes.at(-1)).toMatchObject({ reward: 1, end: { why: 'solved' } });
    }
  });

  it('still names the right next digit after a mistake', () => {
    const task = sum.create({ agents: 1, digits: 1 }, 0.99);
    const episode = task.start(Rng.of(0, 'prompts'));
    const answer = answerOf(text(task, episode), 1, true);
    episode.act([(answer[0]! + 1) % 10], unused);
    expect(episode.expert!()).toEqual([answer[1]]);
  });

  it.each([
    [1, 3, [0, 0, 0, 0]],
    [2, 3, [0, 1, 0, 1]],
    [3, 2, [0, 1, 2]],
    [6, 3, [0, 1, 2, 3]],
  ])('lets %i agents take turns over %i digits', (agents, digits, order) => {
    const task = sum.create({ agents, digits }, 0.99);
    const episode = task.start(Rng.of(0, 'prompts'));
    const actors = order.map(() => {
      const now = episode.actors();
      episode.act(Array(agents).fill(0), unused);
      return now;
    });
    expect(actors).toEqual(order.map((agent) => [agent]));
    expect(() => episode.act(Array(agents).fill(0), unused)).toThrow(`complete after ${digits + 1} digits`);
  });

  it.each([1, 2, 3])('has one column a token that is read, with %i digits', (digits) => {
    const task = sum.create({ digits }, 0.99);
    const episode = task.start(Rng.of(0, 'prompts'));
    let columns = episode.prompt.length;
    while (episode.act(episode.expert!(), unused).end === undefined) columns++;
    expect(task.columns).toBe(columns);
  });

  it('ignores what inactive agents do', () => {
    const task = sum.create({ agents: 3, digits: 2 }, 0.99);
    const episode = task.start(Rng.of(5, 'prompts'));
    const answer = answerOf(text(task, episode), 2, true);
    const outcomes = answer.map((digit, k) => episode.act([9, -1, 99].with(k, digit), unused));
    expect(outcomes.at(-1)!.reward).toBe(1);
  });

  it('draws both numbers uniformly, and the same prompt from the same random numbers', () => {
    const task = sum.create({ digits: 3 }, 0.99);
    const numbers = Array.from({ length: 4000 }, (_, k) => {
      const prompt = text(task, task.start(Rng.of(11, 'prompts', k)));
      expect(text(task, task.start(Rng.of(11, 'prompts', k)))).toBe(prompt);
      expect(prompt).toMatch(/^\d{3}\+\d{3}=$/);
      return [Number(prompt.slice(0, 3)), Number(prompt.slice(4, 7))];
    });
    for (const side of [0, 1]) {
      // Uniform on 0..999: mean 499.5, standard error 288.7 / sqrt(4000) = 4.6.
      const mean = numbers.reduce((total, pair) => total + pair[side]!, 0) / numbers.length;
      expect(Math.abs(mean - 499.5)).toBeLessThan(4 * 4.6);
    }
  });

  it('names the parameter, what was given and what is allowed', () => {
    expect(() => sum.create({ digits: 4 }, 0.99)).toThrow(
      'task.digits: given 4; allowed: a whole number from 1 to 3',
    );
    expect(() => sum.create({ agents: 0 }, 0.99)).toThrow(
      'task.agents: given 0; allowed: a whole number from 1 to 6',
    );
    expect(() => sum.create({ reversed: 'yes' }, 0.99)).toThrow(
      'task.reversed: given "yes"; allowed: true or false',
    );
    const episode = sum.create({}, 0.99).start(Rng.of(0, 'prompts'));
    expect(() => episode.act([12, 0, 0], unused)).toThrow('agent 0 was given action 12');
  });
});
