import type { Kernels, Tensor } from '../../src/kernels/kernels.ts';
import { Rng } from '../../src/kernels/rng.ts';
import type { Policy } from '../../src/policies/policy.ts';
import { createTabularPolicy } from '../../src/policies/tabular.ts';
import type { Agent } from '../../src/sat/team.ts';
import { newOptimiser } from '../../src/sat/team.ts';

/** An agent with a seeded logit table. */
export function tabularAgent(kernels: Kernels, states: number, actions: number, seed = 0): Agent {
  return agentWith(
    createTabularPolicy({ states, actions, kernels, rng: Rng.of(seed, 'init'), scale: 1 }),
    kernels,
  );
}

export function agentWith(policy: Policy, kernels: Kernels): Agent {
  return { index: 0, name: 'A', policy, optimiser: newOptimiser(policy, kernels), radius: 0.05, beta: 0.5 };
}

/** Everything that an update may change, as numbers. */
export async function stateOf(agent: Agent, kernels: Kernels): Promise<number[][]> {
  const tensors: Tensor[] = [
    ...agent.policy.parameters.map((parameter) => parameter.tensor),
    ...agent.optimiser.m,
    ...agent.optimiser.v,
  ];
  const values = await kernels.read(...tensors);
  return [...values.map((array) => [...array]), [agent.optimiser.step]];
}
