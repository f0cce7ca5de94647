import { describe, expect, it } from 'vitest';
import { tabularRun } from '../../test/support/collect.ts';
import { countingKernels } from '../../test/support/countingKernels.ts';
import { createCpuKernels } from '../kernels/cpu/index.ts';

describe('memory', () => {
  it.each([
    ['exact', 0.1, 'accepted and retried'],
    ['sampled', 0.1, 'accepted and retried'],
    ['sampled', 3, 'rejected'],
  ])(
    'a stage with %s advantages at step size %d (%s) gives back every tensor it makes',
    async (advantages, lr) => {
      const { kernels, live } = countingKernels(createCpuKernels());
      const config = {
        stages: 4,
        task: { name: 'doorway' },
        sat: { advantages, groups: 4, groupSize: 4, gamma: 0.5, maxBacktracks: 2, accept: 'kl+surrogate' },
        optimiser: { lr, carryMoments: false },
      };
      const run = await tabularRun(config, kernels);
      const atStart = live.size;
      const counts: number[] = [];
      for await (const event of run.events()) if (event.kind === 'stageEnd') counts.push(live.size);
      expect([...live.values()].slice(atStart)).toEqual([]);
      expect(counts).toEqual([atStart, atStart, atStart, atStart]);
      await run.dispose();
      expect([...live.values()]).toEqual([]);
    },
  );
});
