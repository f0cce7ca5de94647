import { afterAll, describe, expect, it } from 'vitest';
import { agentWith, stateOf, tabularAgent } from '../../test/support/agents.ts';
import { createCpuKernels } from '../kernels/cpu/index.ts';
import type { Kernels, Tensor } from '../kernels/kernels.ts';
import type { Observations, Policy } from '../policies/policy.ts';
import { RunError } from './errors.ts';
import { exactBatch, innerStep, measureProposal, releaseBatch } from './objective.ts';
import type { Agent } from './team.ts';
import { releaseSnapshot, resetMoments, restoreSnapshot, takeSnapshot } from './team.ts';

const kernels = createCpuKernels();
afterAll(() => kernels.dispose());

const settings = { epsilon: 0.2, temperature: 0.8 };
const hyper = { lr: 0.1, beta1: 0.9, beta2: 0.999, eps: 1e-8, weightDecay: 0, maxNorm: 1e9 };
const at = { stage: 0, step: 'optimize', agent: 'A', attempt: 1, innerStep: 1 };
const gamma = 0.5;
const states = [0, 1];
const occupancy = Float64Array.of(0.7, 0.3);
const advantage = Float64Array.of(1, -0.5, 0.2, -0.1, 0.4, -0.8);

async function probabilities(agent: Agent, k: Kernels): Promise<number[][]> {
  const [values] = await k.read(agent.policy.parameters[0]!.tensor);
  return states.map((s) => {
    const weights = [0, 1, 2].map((a) => Math.exp(values![s * 3 + a]! / settings.temperature));
    const total = weights.reduce((sum, w) => sum + w, 0);
    return weights.map((w) => w / total);
  });
}

async function batchFor(agent: Agent) {
  const current = Float64Array.from((await probabilities(agent, kernels)).flat());
  return exactBatch(agent, states, occupancy, current, advantage, gamma, kernels);
}

describe('innerStep', () => {
  it('at pi_cur has gradient d(s) pi(a) (A(s,a) - E A) / (T (1 - gamma)): the policy gradient, by hand', async () => {
    const agent = tabularAgent(kernels, 2, 3);
    const pi = await probabilities(agent, kernels);
    const batch = await batchFor(agent);
    const gradient: number[] = [];
    states.forEach((s) => {
      const mean = pi[s]!.reduce((sum, p, a) => sum + p * advantage[s * 3 + a]!, 0);
      pi[s]!.forEach((p, a) => {
        const scale = occupancy[s]! / (settings.temperature * (1 - gamma));
        gradient.push(scale * p * (advantage[s * 3 + a]! - mean));
      });
    });
    const result = await innerStep(agent, batch, settings, hyper, kernels, at, true);
    expect(result.gradNorm).toBeCloseTo(Math.hypot(...gradient), 12);
    // After one fresh AdamW step m = (1 - beta1) g, and the loss is minimised, so g is minus the gradient of L.
    const [m] = await kernels.read(agent.optimiser.m[0]!);
    gradient.forEach((g, k) => {
      expect(m![k]).toBeCloseTo(-0.1 * g, 12);
    });
    releaseBatch(batch, kernels);
  });

  it('a single step from pi_cur is the same whatever beta: the KL penalty has no gradient there', async () => {
    const after = [];
    for (const beta of [0, 100]) {
      const agent = tabularAgent(kernels, 2, 3);
      agent.beta = beta;
      const batch = await batchFor(agent);
      await innerStep(agent, batch, settings, hyper, kernels, at, true);
      after.push(await stateOf(agent, kernels));
    }
    expect(after[1]).toEqual(after[0]);
  });

  it('a second step does feel beta', async () => {
    const after = [];
    for (const beta of [0, 100]) {
      const agent = tabularAgent(kernels, 2, 3);
      agent.beta = beta;
      const batch = await batchFor(agent);
      await innerStep(agent, batch, settings, hyper, kernels, at, true);
      await innerStep(agent, batch, settings, hyper, kernels, at, false);
      after.push(await stateOf(agent, kernels));
    }
    expect(after[1]).not.toEqual(after[0]);
  });

  it('stops with the micro-step named when a gradient is not finite', async () => {
    const broken = agentWith(new BrokenPolicy(kernels, 'backward'), kernels);
    const batch = await uniformBatch(broken);
    await expect(innerStep(broken, batch, settings, hyper, kernels, at, true)).rejects.toThrow(
      /the gradient norm is NaN — stage 1, agent A, optimize, attempt 1, inner step 1/,
    );
  });

  it('fails the health check when the model does not repeat itself', async () => {
    const broken = agentWith(new BrokenPolicy(kernels, 'forward'), kernels);
    const batch = await uniformBatch(broken);
    const step = innerStep(broken, batch, settings, hyper, kernels, at, true);
    await expect(step).rejects.toThrow(RunError);
    await expect(step).rejects.toThrow(/every ratio must be exactly 1/);
  });
});

describe('measureProposal', () => {
  it('is sum d(s) (pi_new - pi_cur)(a) A(s, a) / (1 - gamma): L_i, unclipped', async () => {
    const agent = tabularAgent(kernels, 2, 3);
    const before = await probabilities(agent, kernels);
    const batch = await batchFor(agent);
    for (let step = 0; step < 4; step++)
      await innerStep(agent, batch, settings, hyper, kernels, at, step === 0);
    const after = await probabilities(agent, kernels);
    let L = 0;
    states.forEach((s) => {
      for (let a = 0; a < 3; a++) {
        L += (occupancy[s]! * (after[s]![a]! - before[s]![a]!) * advantage[s * 3 + a]!) / (1 - gamma);
      }
    });
    const logits = await agent.policy.forward(batch.observations);
    const measured = await measureProposal(agent, batch, logits, settings, kernels);
    expect(measured.surrogate).toBeCloseTo(L, 12);
    expect(L).toBeGreaterThan(0.01);
  });
});

describe('snapshots', () => {
  it('restore weights, moments and step count bit for bit', async () => {
    const agent = tabularAgent(kernels, 2, 3);
    const batch = await batchFor(agent);
    await innerStep(agent, batch, settings, hyper, kernels, at, true);
    const before = await stateOf(agent, kernels);
    const snapshot = takeSnapshot(agent, kernels);
    resetMoments(agent, kernels);
    await innerStep(agent, batch, settings, hyper, kernels, at, false);
    expect(await stateOf(agent, kernels)).not.toEqual(before);
    restoreSnapshot(agent, snapshot, kernels);
    expect(await stateOf(agent, kernels)).toEqual(before);
    releaseSnapshot(snapshot, kernels);
  });
});

/** Two states, three actions; its gradients are NaN, or its logits drift from call to call. */
class BrokenPolicy implements Policy {
  readonly kind = 'tabular';
  readonly nActions = 3;
  readonly parameterCount = 6;
  readonly parameters;
  private calls = 0;

  constructor(
    private readonly k: Kernels,
    private readonly broken: 'forward' | 'backward',
  ) {
    this.parameters = [{ name: 'logits', tensor: k.tensor(new Float64Array(6), [2, 3], 'logits') }];
  }

  forward({ batch, steps }: Observations): Promise<Tensor> {
    const drift = this.broken === 'forward' ? 1e-7 * this.calls++ : 0;
    const rows = Float64Array.from({ length: batch * steps * 3 }, (_, k) => (k % 3) * drift);
    return Promise.resolve(this.k.tensor(rows, [batch * steps, 3], 'logits'));
  }

  backward(): Promise<Tensor[]> {
    const value = this.broken === 'backward' ? Number.NaN : 0;
    return Promise.resolve([this.k.tensor(new Float64Array(6).fill(value), [2, 3], 'gradient')]);
  }

  dispose(): Promise<void> {
    return Promise.resolve();
  }
}

function uniformBatch(agent: Agent) {
  return exactBatch(agent, states, occupancy, new Float64Array(6).fill(1 / 3), advantage, gamma, kernels);
}
