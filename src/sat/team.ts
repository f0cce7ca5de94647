import type { AdamWState, Kernels, Tensor } from '../kernels/kernels.ts';
import type { Policy } from '../policies/policy.ts';

/** One member of the team and what SAT remembers about it between stages. */
export interface Agent {
  readonly index: number;
  readonly name: string;
  /** pi^(j). Its parameters hold the newest promoted policy, or a proposal while one is being made. */
  readonly policy: Policy;
  readonly optimiser: AdamWState;
  /** delta_j, nats. */
  readonly radius: number;
  /** KL penalty coefficient, adapted by the trust-region check (SAT.md section 5). */
  beta: number;
}

/** The product policy pi(a|s) = prod_j pi^(j)(a_j|s), every factor a softmax of logits / temperature. */
export interface Team {
  readonly agents: readonly Agent[];
  readonly temperature: number;
}

/** Copies of everything that an inner step changes. Draws no random numbers, so there is no RNG state to keep. */
export interface AgentSnapshot {
  readonly parameters: readonly Tensor[];
  readonly m: readonly Tensor[];
  readonly v: readonly Tensor[];
  readonly step: number;
}

/** Fresh AdamW moments for a policy's parameters. */
export function newOptimiser(policy: Policy, kernels: Kernels): AdamWState {
  const zeros = (moment: string) =>
    policy.parameters.map((parameter) => kernels.zerosLike(parameter.tensor, `${parameter.name}.${moment}`));
  return { m: zeros('m'), v: zeros('v'), step: 0 };
}

/** Remembers the agent's weights and optimiser state, bit for bit. Release with `releaseSnapshot`. */
export function takeSnapshot(agent: Agent, kernels: Kernels): AgentSnapshot {
  const copyAll = (tensors: readonly Tensor[]) =>
    tensors.map((t) => kernels.copy(t, `${t.label} (snapshot)`));
  return {
    parameters: copyAll(agent.policy.parameters.map((parameter) => parameter.tensor)),
    m: copyAll(agent.optimiser.m),
    v: copyAll(agent.optimiser.v),
    step: agent.optimiser.step,
  };
}

/** Puts the agent back exactly where the snapshot was taken. */
export function restoreSnapshot(agent: Agent, snapshot: AgentSnapshot, kernels: Kernels): void {
  const assignAll = (targets: readonly Tensor[], sources: readonly Tensor[]) => {
    targets.forEach((target, k) => {
      kernels.assign(target, sources[k]!);
    });
  };
  assignAll(
    agent.policy.parameters.map((parameter) => parameter.tensor),
    snapshot.parameters,
  );
  assignAll(agent.optimiser.m, snapshot.m);
  assignAll(agent.optimiser.v, snapshot.v);
  agent.optimiser.step = snapshot.step;
}

/** Forgets the optimiser's moments: the next step depends on its own gradient alone. */
export function resetMoments(agent: Agent, kernels: Kernels): void {
  for (const moment of [...agent.optimiser.m, ...agent.optimiser.v]) {
    const zeros = kernels.zerosLike(moment, 'zeros');
    kernels.assign(moment, zeros);
    kernels.release(zeros);
  }
  agent.optimiser.step = 0;
}

/** Gives back a snapshot's copies. */
export function releaseSnapshot(snapshot: AgentSnapshot, kernels: Kernels): void {
  kernels.release(...snapshot.parameters, ...snapshot.m, ...snapshot.v);
}
