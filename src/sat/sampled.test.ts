import { describe, expect, it } from 'vitest';
import { collect, ofKind, tabularRun } from '../../test/support/collect.ts';
import { createCpuKernels } from '../kernels/cpu/index.ts';
import type { Artifact, ArtifactId } from '../runs/events.ts';
import type { Run } from './run.ts';

const kernels = createCpuKernels();
const epsilon = 0.05;

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

/** One sampled stage whose radius accepts everything: agent 0 first, so its batch does not depend on `innerSteps`. */
async function oneStage(task: object, temperature: number, innerSteps: number) {
  const sat = { order: 'static', gamma: 0.9, groups: 6, groupSize: 8, delta: 10, beta: 0.5, epsilon };
  const config = { stages: 1, task, sat: { ...sat, temperature, innerSteps }, optimiser: { lr: 0.1 } };
  const run = await tabularRun(config, kernels);
  return { run, events: await collect(run) };
}

/**
 * SAT.md section 4 after so many inner steps of agent 0: the mean clipped objective over sequences and the mean KL over
 * the steps where it acts, from the policies before and after and the recorded actions alone.
 */
function objectiveByHand({ run, events }: Awaited<ReturnType<typeof oneStage>>) {
  const rolled = find(run, ofKind(events, 'rollout')[0]?.rollouts, 'rollouts');
  const advantages = find(run, ofKind(events, 'advantages')[0]?.advantages, 'advantages').clipped;
  const { states, actions, before, after } = find(run, ofKind(events, 'promote')[0]?.policy, 'policy');
  const V = actions.length;
  let [objective, kl, acting] = [0, 0, 0];
  for (let b = 0; b < rolled.batch; b++) {
    let u = 0;
    for (let t = 0; t < rolled.lengths[b]!; t++) {
      const at = b * rolled.steps + t;
      if (rolled.active[0]![at] === 0) continue;
      const shown = states.indexOf(run.task.observationName(rolled.observations[at]!));
      if (shown < 0) throw new Error('a visited state is missing from the policy artifact');
      const logRatio = (a: number) => Math.log(after[shown * V + a]! / before[shown * V + a]!);
      u += logRatio(rolled.actions[0]![at]!);
      for (let a = 0; a < V; a++) kl += after[shown * V + a]! * logRatio(a);
      acting++;
    }
    const ratio = Math.exp(u);
    const clipped = Math.min(Math.max(ratio, 1 - epsilon), 1 + epsilon);
    objective += Math.min(ratio * advantages[b]!, clipped * advantages[b]!) / rolled.batch;
  }
  return { objective, meanKl: kl / acting, acting, rows: rolled.batch * rolled.steps };
}

describe('inner steps on a sampled batch, computed again from the policies of shorter runs', () => {
  const doorway = { name: 'doorway', hesitation: 0.7 };
  it.each([
    ['doorway, where all act always', doorway, 1],
    ['doorway at temperature 0.8', doorway, 0.8],
    ['chain, where agents act in some states only', { name: 'chain' }, 0.8],
  ])('%s: clipped objective, and KL averaged over acting steps', async (_, task, temperature) => {
    const long = await oneStage(task, temperature, 5);
    const steps = ofKind(long.events, 'optimize').filter((e) => e.agent === 0 && e.attempt === 1);
    expect(steps.length).toBe(5);
    let clipped = 0;
    for (const innerSteps of [1, 2, 3, 4]) {
      // A run that stops after k steps shows the policy from which step k + 1 of the long run starts.
      const short = await oneStage(task, temperature, innerSteps);
      const byHand = objectiveByHand(short);
      const step = steps[innerSteps]!;
      expect(step.meanKl).toBeCloseTo(byHand.meanKl, 10);
      expect(step.objective).toBeCloseTo(byHand.objective, 10);
      expect(byHand.meanKl).toBeGreaterThan(1e-4);
      if (task.name === 'chain') expect(byHand.acting).toBeLessThan(byHand.rows);
      clipped += step.clipFraction;
      await short.run.dispose();
    }
    // Without a clipped sequence the clip would be untested.
    expect(clipped).toBeGreaterThan(0);
    await long.run.dispose();
  });
});
