import { describe, expect, it } from 'vitest';
import { ContextPolicy } from '../../test/support/contextPolicy.ts';
import { agentUpdate } from '../exact/bounds.ts';
import type { JointPolicy, Mdp } from '../exact/mdp.ts';
import { softmaxRows } from '../exact/policy.ts';
import { createCpuKernels } from '../kernels/cpu/index.ts';
import { Rng } from '../kernels/rng.ts';
import { validateConfig } from '../runs/config.ts';
import { taskDefinition } from '../tasks/index.ts';
import { createSolutionEvaluator } from './solutionEvaluator.ts';
import type { Agent } from './team.ts';

const kernels = createCpuKernels();
const V = 12;
const gamma = 0.9;
const temperature = 0.8;

function setUp(prompts: number) {
  const config = validateConfig({
    task: { name: 'sum', agents: 2, digits: 1 },
    team: { policy: 'onnx' },
    sat: { gamma, temperature },
    evaluation: { prompts },
  });
  const task = taskDefinition('sum')!.create({ agents: 2, digits: 1 }, gamma);
  const policies = [new ContextPolicy(kernels, V, 1), new ContextPolicy(kernels, V, 2)];
  const agents: Agent[] = policies.map((policy, index) => ({
    index,
    name: String(index),
    policy,
    optimiser: { m: [], v: [], step: 0 },
    radius: 1,
    beta: 0,
  }));
  return { config, task, policies, team: { agents, temperature } };
}

const probabilities = (policy: ContextPolicy, context: readonly number[]) =>
  softmaxRows(
    policy.logitsAfter(context).map((logit) => logit / temperature),
    V,
  );

/**
 * The whole tree of one prompt as an MDP: state 0 the prompt, 1..V the prompt and one token, V + 1 the end. Agent 0 acts
 * in state 0, agent 1 in states 1..V. Built from the rules of the task, not from its code.
 */
function promptTree(a: number, b: number): { mdp: Mdp; context: (state: number) => number[] } {
  const [units, tens] = [(a + b) % 10, Math.floor((a + b) / 10)];
  const S = V + 2;
  const J = V * V;
  const transitions = new Float64Array(S * J * S);
  const rewards = new Float64Array(S * J);
  const active = new Uint8Array(S * 2);
  active[0] = 1;
  for (let s = 0; s < S; s++) {
    if (s >= 1 && s <= V) active[s * 2 + 1] = 1;
    for (let first = 0; first < V; first++) {
      for (let second = 0; second < V; second++) {
        const joint = s * J + first * V + second;
        const next = s === 0 ? 1 + first : V + 1;
        transitions[joint * S + next] = 1;
        if (s === 1 + units && second === tens) rewards[joint] = 1;
      }
    }
  }
  const mu = new Float64Array(S);
  mu[0] = 1;
  const prompt = [a, 10, b, 11];
  return {
    mdp: { nStates: S, nActions: [V, V], gamma, transitions, rewards, mu, active, noop: [0, 0] },
    context: (state) => (state === 0 ? prompt : [...prompt, state - 1]),
  };
}

function jointOn(tree: ReturnType<typeof promptTree>, policies: readonly ContextPolicy[]): JointPolicy {
  return policies.map((policy) => {
    const rows = new Float64Array(tree.mdp.nStates * V);
    for (let s = 0; s <= V; s++) rows.set(probabilities(policy, tree.context(s)), s * V);
    return rows;
  });
}

describe('SolutionEvaluator', () => {
  it('agrees with the exact MDP of every prompt: J, L_i, dJ and max |f|', async () => {
    const prompts = 12;
    const { config, task, policies, team } = setUp(prompts);
    const evaluator = await createSolutionEvaluator(config, task, team, kernels);
    const drawn = Array.from({ length: prompts }, (_, p) => task.start(Rng.of(0, 'evaluation', p)).prompt);
    const trees = drawn.map((prompt) => promptTree(prompt[0]!, prompt[2]!));
    const before = trees.map((tree) => jointOn(tree, policies));
    const mean = (values: readonly number[]) => values.reduce((sum, x) => sum + x, 0) / values.length;

    for (const j of [1, 0]) {
      policies[j]!.salt += 10;
      const updates = trees.map((tree, p) => {
        const after = jointOn(tree, policies);
        const update = agentUpdate(tree.mdp, before[p]!, after, j);
        before[p] = after;
        return update;
      });
      const startJ = evaluator.measure().J.value;
      const measured = await evaluator.update(team.agents[j]!, {
        kl: Float64Array.of(0.02),
        weight: Float64Array.of(1),
      });
      expect(measured.L.value).toBeCloseTo(mean(updates.map((u) => u.L)), 12);
      expect(measured.dJ.value).toBeCloseTo(mean(updates.map((u) => u.dJ)), 12);
      expect(evaluator.measure().J.value - startJ).toBeCloseTo(measured.dJ.value, 12);
      const fMax = Math.max(...updates.flatMap((u) => [...u.expectedAdvantage].map(Math.abs)));
      const meanTv = (1 - gamma) * Math.sqrt(0.02 / 2);
      expect(measured.bounds.cpo.penalty).toBeCloseTo(((2 * gamma) / (1 - gamma) ** 2) * fMax * meanTv, 12);
      const paper = ((2 * gamma) / (1 - gamma) ** 2) * Math.sqrt(0.02 / 2);
      expect(measured.bounds.paper).toEqual({
        value: measured.L.value - paper,
        penalty: paper,
        vacuous: true,
      });
    }
  });

  it('success is the chance that every digit is right, J that times gamma per decision after the first', async () => {
    const { config, task, policies, team } = setUp(1);
    const evaluator = await createSolutionEvaluator(config, task, team, kernels);
    const prompt = task.start(Rng.of(0, 'evaluation', 0)).prompt;
    const sum = prompt[0]! + prompt[2]!;
    const units = probabilities(policies[0]!, prompt)[sum % 10]!;
    const tens = probabilities(policies[1]!, [...prompt, sum % 10])[Math.floor(sum / 10)]!;
    expect(evaluator.measure().success?.value).toBeCloseTo(units * tens, 12);
    expect(evaluator.measure().J.value).toBeCloseTo(gamma * units * tens, 12);
    expect(evaluator.measure().J.kind).toBe('estimated');
  });

  it('an agent that did not change changes nothing', async () => {
    const { config, task, team } = setUp(5);
    const evaluator = await createSolutionEvaluator(config, task, team, kernels);
    const measured = await evaluator.update(team.agents[0]!, {
      kl: new Float64Array(),
      weight: new Float64Array(),
    });
    expect([measured.L.value, measured.dJ.value, measured.klMax]).toEqual([0, 0, 0]);
    for (const bound of Object.values(measured.bounds)) expect(bound.value).toBe(0);
  });
});
