import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { collect, ofKind, tabularRun } from '../../test/support/collect.ts';
import { createCpuKernels } from '../kernels/cpu/index.ts';
import type { SatEvent } from '../runs/events.ts';

const preset = parse(readFileSync('public/presets/doorway.yaml', 'utf8'));
const kernels = createCpuKernels();

async function play(changes: {
  seed?: number;
  stages?: number;
  sat?: object;
  optimiser?: object;
  task?: object;
}) {
  const { sat, optimiser, task, ...top } = changes;
  const config = {
    ...preset,
    ...top,
    sat: { ...preset.sat, ...sat },
    optimiser: { ...preset.optimiser, ...optimiser },
    task: { ...preset.task, ...task },
  };
  const run = await tabularRun(config, kernels);
  const events = await collect(run);
  await run.dispose();
  return events;
}

const seeds = Array.from({ length: 20 }, (_, seed) => seed);

describe('doorway, exact advantages', () => {
  it('sat: J never falls, at any update, on seeds 0-19, and ends near the best that a team can do', async () => {
    for (const seed of seeds) {
      const events = await play({ seed });
      const falls = ofKind(events, 'stageEnd').map((end) => [end.monotonicityViolated, end.violatingUpdates]);
      expect(falls.every(([stage, updates]) => stage === false && updates === 0)).toBe(true);
      // One agent goes and the others wait: reward 1 a round.
      const best = 1 / (1 - preset.sat.gamma);
      expect(ofKind(events, 'stageEnd').at(-1)!.J.value).toBeGreaterThan(0.9 * best);
    }
  });

  it('simultaneous: at the same radius J falls in at least one stage on most seeds', async () => {
    let fell = 0;
    for (const seed of seeds) {
      const events = await play({ seed, sat: { scheme: 'simultaneous' } });
      if (ofKind(events, 'stageEnd').some((end) => end.monotonicityViolated)) fell++;
    }
    expect(fell).toBeGreaterThanOrEqual(15);
  });

  it('every proved bound is at most the true change, in every order and at every discount', async () => {
    for (const gamma of [0, 0.3, 0.9, 0.99]) {
      for (const scheme of ['sat', 'simultaneous']) {
        const events = await play({
          stages: 5,
          sat: { gamma, scheme, order: 'given', givenOrder: [2, 0, 1] },
        });
        for (const certificate of ofKind(events, 'certificate')) {
          for (const bound of Object.values(certificate.bounds)) {
            expect(bound.value).toBeLessThanOrEqual(certificate.dJ.value + 1e-9);
          }
        }
      }
    }
  });

  it('kept policies never leave the ball, and the stage change is the sum over its updates', async () => {
    const events = await play({ sat: { delta: 0.01 } });
    for (const promoted of ofKind(events, 'promote')) expect(promoted.acceptedViolations).toBe(0);
    const stages = ofKind(events, 'stageEnd');
    for (const end of stages) {
      const updates = ofKind(events, 'certificate').filter(
        (c) => c.stage === end.stage && c.scope === 'update',
      );
      expect(updates.reduce((sum, update) => sum + update.dJ.value, 0)).toBeCloseTo(end.dJ.value, 9);
    }
  });
});

describe('events', () => {
  it('follow Algorithm 1: stageStart, rollout, order, then each agent of sigma, then the stage', async () => {
    const events = await play({ stages: 1, sat: { order: 'given', givenOrder: [1, 2, 0] } });
    expect(events.map((event) => event.seq)).toEqual(events.map((_, k) => k));
    expect(events.slice(0, 3).map((event) => event.kind)).toEqual(['stageStart', 'rollout', 'order']);
    expect(ofKind(events, 'intermediate').map((e) => [e.agent, e.position])).toEqual([
      [1, 1],
      [2, 2],
      [0, 3],
    ]);
    expect(ofKind(events, 'intermediate')[2]?.updated).toEqual([1, 2]);
    expect(events.slice(-2).map((event) => event.kind)).toEqual(['certificate', 'stageEnd']);
  });

  it('one seed, one log; another seed, another log', async () => {
    for (const advantages of ['exact', 'sampled']) {
      const text = (events: SatEvent[]) => events.map((event) => JSON.stringify(event)).join('\n');
      const settings = { stages: 3, sat: { advantages } };
      const [first, second, other] = [
        await play(settings),
        await play(settings),
        await play({ ...settings, seed: 1 }),
      ];
      expect(text(first)).toBe(text(second));
      expect(text(first)).not.toBe(text(other));
    }
  });
});

describe('backtracking', () => {
  it('halves the step and multiplies beta at each failed check, then keeps the policy', async () => {
    const events = await play({
      stages: 1,
      sat: { delta: 1e-9, maxBacktracks: 2, beta: 0.1 },
      optimiser: { lr: 1 },
    });
    const first = ofKind(events, 'intermediate')[0]!.agent;
    const backtracks = ofKind(events, 'backtrack').filter((event) => event.agent === first);
    expect(backtracks.map((event) => [event.lr.from, event.lr.to, event.retry])).toEqual([
      [1, 0.5, true],
      [0.5, 0.25, true],
      [0.25, 0.125, false],
    ]);
    expect(backtracks.map((event) => event.beta.to)).toEqual([
      0.1 * 1.5,
      0.1 * 1.5 * 1.5,
      0.1 * 1.5 * 1.5 * 1.5,
    ]);
    const promoted = ofKind(events, 'promote');
    expect(promoted.map((event) => [event.accepted, event.reason, event.attempts])).toEqual(
      promoted.map(() => [false, 'attemptsExhausted', 3]),
    );
    expect(
      promoted.every((event) => event.proposedViolationRate === 1 && event.acceptedViolationRate === 0),
    ).toBe(true);
    const end = ofKind(events, 'stageEnd')[0]!;
    expect(end.dJ.value).toBe(0);
  });

  it('a second attempt can succeed, and later agents are then judged under the new team', async () => {
    const events = await play({ stages: 1, optimiser: { lr: 0.4 } });
    const attempts = ofKind(events, 'promote').map((event) => [event.accepted, event.attempts]);
    expect(attempts.some(([accepted, count]) => accepted === true && Number(count) > 1)).toBe(true);
    expect(ofKind(events, 'intermediate')[2]?.updated.length).toBe(2);
  });
});
