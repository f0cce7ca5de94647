import type { Kernels } from '../kernels/kernels.ts';
import type { Observations } from '../policies/policy.ts';
import type { Artifact } from '../runs/events.ts';
import type { Task } from '../tasks/task.ts';
import type { StageContext } from './context.ts';
import { probabilitiesAt } from './probabilities.ts';
import type { Rollouts } from './rollout.ts';
import type { Agent } from './team.ts';

/** Most states whose distributions are kept for display. */
const MAX_STATES = 64;

/** A few states of one agent with its distributions there before an update. */
export interface PolicyView {
  readonly observations: Observations;
  /** Rows of `observations` (b * T + t) that are shown, with a label each. */
  readonly rows: Int32Array;
  readonly labels: readonly string[];
  /** [rows * V] probabilities. */
  readonly before: Float64Array;
}

/** The first distinct decision contexts of agent j in a batch. */
export async function sampledView(
  agent: Agent,
  rollouts: Rollouts,
  task: Task,
  temperature: number,
  kernels: Kernels,
): Promise<PolicyView> {
  const { steps, observations: data } = rollouts;
  const seen = new Map<string, number>();
  const active = rollouts.active[agent.index]!;
  for (let row = 0; row < active.length && seen.size < MAX_STATES; row++) {
    if (active[row] === 0) continue;
    const start = task.observation === 'token' ? Math.floor(row / steps) * steps : row;
    const label = Array.from(data.subarray(start, row + 1), (o) => task.observationName(o)).join('');
    if (!seen.has(label)) seen.set(label, row);
  }
  const observations = { batch: rollouts.batch, steps, data };
  const rows = Int32Array.from(seen.values());
  const before = await probabilitiesAt(agent, observations, rows, temperature, kernels);
  return { observations, rows, labels: [...seen.keys()], before };
}

/** The first states of an enumerable task. */
export function exactView(
  agent: Agent,
  task: Task,
  states: readonly number[],
  current: Float64Array,
): PolicyView {
  const shown = states.slice(0, MAX_STATES);
  return {
    observations: { batch: shown.length, steps: 1, data: Int32Array.from(shown) },
    rows: Int32Array.from(shown.keys()),
    labels: shown.map((state) => task.observationName(state)),
    before: current.slice(0, shown.length * agent.policy.nActions),
  };
}

/** The agent's distributions before its update and now. */
export async function policyChange(
  context: StageContext,
  agent: Agent,
  view: PolicyView,
): Promise<Artifact & { kind: 'policy' }> {
  const { team, kernels, task } = context;
  const after = await probabilitiesAt(agent, view.observations, view.rows, team.temperature, kernels);
  const actions = Array.from({ length: agent.policy.nActions }, (_, a) => task.actionName(agent.index, a));
  return { kind: 'policy', agent: agent.index, states: view.labels, actions, before: view.before, after };
}
