import { surrogatePenalties } from '../exact/bounds.ts';
import type { Kernels } from '../kernels/kernels.ts';
import { Rng } from '../kernels/rng.ts';
import type { RunConfig } from '../runs/config.ts';
import type { Task } from '../tasks/task.ts';
import { boundsForEvent } from './bounds.ts';
import { meanEstimate } from './estimate.ts';
import type { Evaluator, TeamMeasure, UpdateMeasure, VisitedDivergence } from './evaluator.ts';
import type { Agent, Team } from './team.ts';
import { type Demonstrations, demonstrate } from './warmStart.ts';

/**
 * Evaluator for tasks whose return is gamma^(D-1) if all D decisions are the solver's and 0 otherwise. Given a prompt,
 * only the solver's path carries value, so with q_k = pi(a*_k | s_k) along it everything is a product:
 *   J = gamma^(D-1) prod_k q_k,   Q(s_k, a*_k) = w_k = gamma^(D-1-k) prod_{m>k} q_m,   Q(s_k, other) = 0,
 *   A(s_k, a*_k) = w_k (1 - q_k),   f(s_k) = (q'_k - q_k) w_k for agent j's new q', 0 at every state off the path.
 * No action is sampled; the only noise is in which prompts were drawn, and changes are paired over prompts. The prompts
 * are fixed for the run.
 */
export async function createSolutionEvaluator(
  config: RunConfig,
  task: Task,
  team: Team,
  kernels: Kernels,
): Promise<Evaluator> {
  const generators = Array.from({ length: config.evaluation.prompts }, (_, p) =>
    Rng.of(config.seed, 'evaluation', p),
  );
  const evaluator = new SolutionEvaluator(demonstrate(task, generators), task, team, kernels);
  await evaluator.readAll();
  return evaluator;
}

/** Sums over one prompt's path that an update's certificate needs. */
interface PathChange {
  /** sum_k gamma^k reach_k f_k, reach_k = prod_{m<k} q_m: this prompt's share of L_i. */
  gain: number;
  dJ: number;
  /** f at the first decision. */
  startF: number;
  maxAbsF: number;
  minF: number;
}

class SolutionEvaluator implements Evaluator {
  readonly quality = 'estimated';
  /** Per prompt, columns of its decisions. */
  private readonly decisions: readonly (readonly number[])[];
  /** [P * T] probability of the solver's action at decisions, under the newest team. */
  private q: Float64Array;
  private measured: TeamMeasure;

  constructor(
    private readonly shown: Demonstrations,
    private readonly task: Task,
    private readonly team: Team,
    private readonly kernels: Kernels,
  ) {
    const { batch, steps, actor } = shown;
    this.decisions = Array.from({ length: batch }, (_, p) =>
      Array.from({ length: steps }, (_, t) => t).filter((t) => actor[p * steps + t]! >= 0),
    );
    this.q = new Float64Array(batch * steps);
    this.measured = this.measureTeam();
  }

  async readAll(): Promise<void> {
    for (const agent of this.team.agents) this.q = await this.withAgent(agent);
    this.measured = this.measureTeam();
  }

  measure(): TeamMeasure {
    return this.measured;
  }

  beginStage(): void {
    // Nothing is judged under pi_cur of the stage here: advantages come from the sampled batch.
  }

  async update(agent: Agent, visited: VisitedDivergence): Promise<UpdateMeasure> {
    const next = await this.withAgent(agent);
    const paths = this.decisions.map((_, p) => this.pathChange(p, agent.index, next));
    this.q = next;
    this.measured = this.measureTeam();
    const { gamma, maxReturn } = this.task;
    const L = meanEstimate(paths.map((path) => path.gain));
    const klMax = visited.kl.reduce((most, kl) => Math.max(most, kl), 0);
    // Pinsker's inequality bounds each state's TV by sqrt(KL / 2), which is enough and needs no second pass.
    const meanTv = visited.kl.reduce((sum, kl, n) => sum + visited.weight[n]! * pinsker(kl), 0) * (1 - gamma);
    const tvMax = pinsker(klMax);
    const penalties = surrogatePenalties({
      gamma,
      aMax: maxReturn,
      fMax: Math.max(...paths.map((path) => path.maxAbsF)),
      klMax,
      tvMax,
      meanTv,
    });
    const startF = paths.reduce((sum, path) => sum + path.startF, 0) / paths.length;
    const worst = Math.min(...paths.map((path) => path.minF));
    const lowerBounds = {
      paper: L.value - penalties.paper,
      trpo: L.value - penalties.trpo,
      cpo: L.value - penalties.cpo,
      coupling: L.value - penalties.coupling,
      statewise: startF + (gamma / (1 - gamma)) * worst,
    };
    return {
      L,
      dJ: meanEstimate(paths.map((path) => path.dJ)),
      klMax,
      tvMax,
      aMax: maxReturn,
      aMaxSource: 'assumed',
      bounds: boundsForEvent(lowerBounds, penalties, gamma),
    };
  }

  /** q with agent j's entries re-read from its policy. */
  private async withAgent(agent: Agent): Promise<Float64Array> {
    const { batch, steps, observations, actions, actor } = this.shown;
    const logits = await agent.policy.forward({ batch, steps, data: observations });
    const index = this.kernels.tensor(actions, [batch * steps], 'solver actions');
    const result = this.kernels.logProb({ logits, actions: index, temperature: this.team.temperature });
    const [logProb] = await this.kernels.read(result.logProb);
    this.kernels.release(logits, index, ...Object.values(result));
    return this.q.map((old, at) => (actor[at] === agent.index ? Math.exp(logProb![at]!) : old));
  }

  private measureTeam(): TeamMeasure {
    const solved = this.decisions.map((columns, p) =>
      columns.reduce((product, t) => product * this.q[p * this.shown.steps + t]!, 1),
    );
    const discounted = solved.map((chance, p) => chance * this.task.gamma ** (this.decisions[p]!.length - 1));
    return { J: meanEstimate(discounted), success: meanEstimate(solved) };
  }

  private pathChange(p: number, agent: number, next: Float64Array): PathChange {
    const columns = this.decisions[p]!;
    const at = (k: number) => p * this.shown.steps + columns[k]!;
    const D = columns.length;
    const { gamma } = this.task;
    // w_k from the end of the path backwards.
    const w = new Float64Array(D);
    for (let k = D - 1, value = 1; k >= 0; k--) {
      w[k] = value;
      value *= gamma * this.q[at(k)]!;
    }
    const change: PathChange = { gain: 0, dJ: 0, startF: 0, maxAbsF: 0, minF: 0 };
    let [reach, after] = [1, 1];
    for (let k = 0; k < D; k++) {
      const q = this.q[at(k)]!;
      const moved = this.shown.actor[at(k)] === agent;
      const f = moved ? (next[at(k)]! - q) * w[k]! : 0;
      change.gain += gamma ** k * reach * f;
      if (k === 0) change.startF = f;
      change.maxAbsF = Math.max(change.maxAbsF, Math.abs(f));
      change.minF = Math.min(change.minF, f);
      reach *= q;
      after *= next[at(k)]!;
    }
    change.dJ = gamma ** (D - 1) * (after - reach);
    return change;
  }
}

/** TV <= sqrt(KL / 2), and never above 1. */
function pinsker(kl: number): number {
  return Math.min(1, Math.sqrt(kl / 2));
}
