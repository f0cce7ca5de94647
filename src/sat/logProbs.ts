import type { Kernels } from '../kernels/kernels.ts';
import { observationsOf, type Rollouts } from './rollout.ts';
import type { Agent } from './team.ts';

/**
 * [B * T] log pi^(j)(a|s) of the recorded actions at the agent's present parameters, 0 where it was inactive. The one
 * function behind current and target log-probabilities; the sampler's own come from the same kernel formula.
 */
export async function logProbsAt(
  agent: Agent,
  rollouts: Rollouts,
  temperature: number,
  kernels: Kernels,
): Promise<Float64Array> {
  const logits = await agent.policy.forward(observationsOf(rollouts));
  const actions = kernels.tensor(
    rollouts.actions[agent.index]!,
    [rollouts.batch * rollouts.steps],
    'actions',
  );
  const result = kernels.logProb({ logits, actions, temperature });
  const [values] = await kernels.read(result.logProb);
  kernels.release(logits, actions, ...Object.values(result));
  return values!.map((value, at) => (rollouts.active[agent.index]![at] === 1 ? value : 0));
}
