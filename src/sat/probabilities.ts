import { softmaxRows } from '../exact/policy.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { Observations } from '../policies/policy.ts';
import type { Agent } from './team.ts';

/** [rows * V] action probabilities softmax(logits / temperature) at some rows. */
export async function probabilitiesAt(
  agent: Agent,
  observations: Observations,
  rows: Int32Array,
  temperature: number,
  kernels: Kernels,
): Promise<Float64Array> {
  const logits = await agent.policy.forward(observations);
  const index = kernels.tensor(rows, [rows.length], 'rows');
  const selected = kernels.gatherRows(logits, index);
  const [values] = await kernels.read(selected);
  kernels.release(logits, index, selected);
  const scaled = values!.map((logit) => logit / temperature);
  return softmaxRows(scaled, agent.policy.nActions);
}
