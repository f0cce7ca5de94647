import { describe, expect, it } from 'vitest';
import { tabularRun } from '../../test/support/collect.ts';
import { createCpuKernels } from '../kernels/cpu/index.ts';
import type { Artifact, ArtifactId } from '../runs/events.ts';
import type { Run } from './run.ts';

/** The doorway's rules and SAT.md sections 3 to 5 once more, from the artifacts of a run alone. */
const setting = { gamma: 0.9, lambda: 0.95, groupSize: 8, collision: 2 };

function find<K extends Artifact['kind']>(
  run: Run,
  id: ArtifactId | undefined,
  kind: K,
): Extract<Artifact, { kind: K }> {
  const artifact = id === undefined ? undefined : run.artifact(id);
  const isKind = (a: Artifact | undefined): a is Extract<Artifact, { kind: K }> => a?.kind === kind;
  if (!isKind(artifact)) throw new Error(`no artifact ${id} of kind ${kind}`);
  return artifact;
}

type Rolled = Extract<Artifact, { kind: 'rollouts' }>;
type Changed = Extract<Artifact, { kind: 'policy' }>;

/** [B] sum over t of the traced advantage; rho over the agents in `corrected`. */
function rawAdvantages(rolled: Rolled, corrected: readonly Changed[], trace: string): number[] {
  const { gamma, lambda, collision } = setting;
  return Array.from({ length: rolled.batch }, (_, b) => {
    let [A, cNext, sum] = [0, 0, 0];
    for (let t = rolled.steps - 1; t >= 0; t--) {
      const at = b * rolled.steps + t;
      const going = rolled.actions.reduce((count, actions) => count + actions[at]!, 0);
      const reward = going === 0 ? 0 : going === 1 ? 1 : -collision * (going - 1);
      const rho = corrected.reduce((product, { agent, before, after }) => {
        const action = rolled.actions[agent]![at]!;
        return (product * after[action]!) / before[action]!;
      }, 1);
      const c = Math.min(1, rho);
      A = trace === 'retrace' ? reward + gamma * lambda * cNext * A : c * (reward + gamma * lambda * A);
      cNext = c;
      sum += A;
    }
    return sum;
  });
}

function normalised(raw: readonly number[], aClip: number): number[] {
  const G = setting.groupSize;
  return raw.map((value, b) => {
    const group = raw.slice(Math.floor(b / G) * G, Math.floor(b / G) * G + G);
    const mean = group.reduce((sum, x) => sum + x, 0) / G;
    const std = Math.sqrt(group.reduce((sum, x) => sum + (x - mean) ** 2, 0) / G);
    return std === 0 ? 0 : Math.max(-aClip, Math.min(aClip, (value - mean) / (std + 1e-8)));
  });
}

const cases = ['sat', 'simultaneous'].flatMap((scheme) =>
  ['retrace', 'vtrace'].flatMap((trace) =>
    [1, 0.8].map((temperature) => [scheme, trace, temperature] as const),
  ),
);

describe('a sampled run, computed again from its artifacts', () => {
  it.each(cases)(
    '%s, %s, temperature %d: advantages, surrogate and KL',
    async (scheme, trace, temperature) => {
      const aClip = 1.2;
      const run = await tabularRun(
        {
          stages: 4,
          task: { name: 'doorway', collision: setting.collision },
          sat: {
            gamma: setting.gamma,
            lambda: setting.lambda,
            groupSize: setting.groupSize,
            scheme,
            trace,
            temperature,
            aClip,
            advantages: 'sampled',
            groups: 5,
          },
          optimiser: { lr: 0.1 },
        },
        createCpuKernels(),
      );
      let rolled: Rolled | undefined;
      let promoted: Changed[] = [];
      let used: readonly number[] = [];
      let checked = { surrogate: 0, quantile: 0 };
      let corrections = 0;
      for await (const event of run.events()) {
        if (event.kind === 'rollout') {
          rolled = find(run, event.rollouts, 'rollouts');
          promoted = [];
        } else if (event.kind === 'advantages') {
          const raw = rawAdvantages(rolled!, scheme === 'sat' ? promoted : [], trace);
          used = normalised(raw, aClip);
          const shown = find(run, event.advantages, 'advantages');
          raw.forEach((value, b) => {
            expect(shown.raw[b]).toBeCloseTo(value, 10);
            expect(shown.clipped[b]).toBeCloseTo(used[b]!, 10);
          });
          if (event.rho.max > 1.01) corrections++;
        } else if (event.kind === 'klCheck') {
          checked = event;
        } else if (event.kind === 'promote' && event.accepted) {
          const change = find(run, event.policy, 'policy');
          promoted.push(change);
          const gains = used.map((A, b) => {
            let u = 0;
            for (let t = 0; t < rolled!.steps; t++) {
              const action = rolled!.actions[event.agent]![b * rolled!.steps + t]!;
              u += Math.log(change.after[action]! / change.before[action]!);
            }
            return Math.expm1(u) * A;
          });
          expect(checked.surrogate).toBeCloseTo(
            gains.reduce((sum, gain) => sum + gain, 0) / gains.length,
            10,
          );
          const kl = [0, 1].reduce(
            (sum, a) => sum + change.after[a]! * Math.log(change.after[a]! / change.before[a]!),
            0,
          );
          expect(checked.quantile).toBeCloseTo(kl, 10);
        }
      }
      // The comparison would say little if no agent had ever been judged under a moved team.
      if (scheme === 'sat') expect(corrections).toBeGreaterThan(2);
      else expect(corrections).toBe(0);
      await run.dispose();
    },
  );
});
