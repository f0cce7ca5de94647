import { describe, expect, it } from 'vitest';
import { collect, ofKind, tabularRun } from '../../test/support/collect.ts';
import { createCpuKernels } from '../kernels/cpu/index.ts';

const kernels = createCpuKernels();
const play = async (config: object) => collect(await tabularRun(config, kernels));

describe('settings that one state alone would not show', () => {
  it('the monitored quantile is the (1 - alpha) order statistic of the per-state KLs, not their maximum', async () => {
    const alpha = 0.1;
    const run = await tabularRun(
      {
        stages: 1,
        task: { name: 'relay' },
        sat: { advantages: 'exact', alpha, gamma: 0.9 },
        optimiser: { lr: 0.1 },
      },
      kernels,
    );
    let checks = 0;
    for await (const event of run.events()) {
      if (event.kind !== 'klCheck') continue;
      const artifact = run.artifact(event.kl);
      if (artifact?.kind !== 'kl') throw new Error('no KL artifact');
      const sorted = [...artifact.kl].sort((a, b) => a - b);
      const at = Math.ceil((sorted.length - 1) * (1 - alpha));
      expect(sorted.length).toBeGreaterThan(20);
      expect(event.quantile).toBe(sorted[at]);
      expect(event.max).toBe(sorted.at(-1));
      if (event.quantile < event.max) checks++;
    }
    expect(checks).toBeGreaterThan(0);
  });

  it('radii gives every agent its own delta', async () => {
    const radii = [0.01, 0.02, 0.03];
    const events = await play({
      stages: 1,
      task: { name: 'doorway' },
      sat: { advantages: 'exact', gamma: 0.5, radii },
    });
    const checks = ofKind(events, 'klCheck');
    expect(new Set(checks.map((check) => check.agent)).size).toBe(3);
    for (const check of checks) expect(check.delta).toBe(radii[check.agent]);
  });

  it('topP below the mass of waiting makes every agent wait', async () => {
    const sat = { groups: 20, groupSize: 5, gamma: 0.5, temperature: 1 };
    const task = { name: 'doorway', hesitation: 0.7 };
    const rolled = async (topP: number) =>
      ofKind(await play({ stages: 1, task, team: { initScale: 0 }, sat: { ...sat, topP } }), 'rollout')[0]!;
    expect((await rolled(0.5)).meanReturn).toMatchObject({ value: 0, halfWidth: 0 });
    expect((await rolled(1)).meanReturn.value).not.toBe(0);
  });

  it('a random order differs from stage to stage', async () => {
    const events = await play({
      stages: 12,
      task: { name: 'doorway' },
      sat: { advantages: 'exact', gamma: 0.5 },
    });
    expect(new Set(ofKind(events, 'order').map((event) => event.order.join())).size).toBeGreaterThan(2);
  });

  it('moments that are carried over change the second stage, not the first', async () => {
    const valuesWith = async (carryMoments: boolean) => {
      const sat = { advantages: 'exact', gamma: 0.5, order: 'static' };
      const events = await play({
        stages: 2,
        task: { name: 'doorway' },
        sat,
        optimiser: { lr: 0.02, carryMoments },
      });
      return ofKind(events, 'stageEnd').map((end) => end.J.value);
    };
    const [carried, fresh] = [await valuesWith(true), await valuesWith(false)];
    expect(carried[0]).toBe(fresh[0]);
    expect(carried[1]).not.toBe(fresh[1]);
  });
});
