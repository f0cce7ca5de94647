import { agentUpdate } from '../exact/bounds.ts';
import { type Evaluation, evaluate, exactAdvantageForAgent } from '../exact/evaluate.ts';
import type { JointPolicy, Mdp } from '../exact/mdp.ts';
import { isActive } from '../exact/policy.ts';
import type { Kernels } from '../kernels/kernels.ts';
import { boundsForEvent } from './bounds.ts';
import { exactly } from './estimate.ts';
import type { Evaluator, ExactJudgement, TeamMeasure, UpdateMeasure } from './evaluator.ts';
import { probabilitiesAt } from './probabilities.ts';
import type { Agent, Team } from './team.ts';

/** A joint policy with everything that is known about it. */
interface Evaluated {
  readonly joint: JointPolicy;
  readonly evaluation: Evaluation;
}

/** Evaluator of an enumerable task: every quantity by linear solves in float64. */
export async function createExactEvaluator(mdp: Mdp, team: Team, kernels: Kernels): Promise<Evaluator> {
  const joint: Float64Array[] = [];
  for (const agent of team.agents) joint.push(await allStates(agent, mdp, team, kernels));
  return new ExactEvaluator(mdp, team, kernels, { joint, evaluation: evaluate(mdp, joint) });
}

/** [S * A_j] pi^(j)(a|s) at every state. */
function allStates(agent: Agent, mdp: Mdp, team: Team, kernels: Kernels): Promise<Float64Array> {
  const states = Int32Array.from({ length: mdp.nStates }, (_, s) => s);
  const observations = { batch: mdp.nStates, steps: 1, data: states };
  return probabilitiesAt(agent, observations, states, team.temperature, kernels);
}

class ExactEvaluator implements Evaluator {
  readonly quality = 'exact';
  /** pi_cur of the stage. */
  private current: Evaluated;

  constructor(
    private readonly mdp: Mdp,
    private readonly team: Team,
    private readonly kernels: Kernels,
    /** pi^_i: the newest intermediate team. */
    private intermediate: Evaluated,
  ) {
    this.current = intermediate;
  }

  readonly exact = {
    judge: (agent: number, under: 'intermediate' | 'current'): ExactJudgement =>
      this.judge(agent, this[under]),
  };

  measure(): TeamMeasure {
    return { J: exactly(this.intermediate.evaluation.J) };
  }

  beginStage(): void {
    this.current = this.intermediate;
  }

  async update(agent: Agent): Promise<UpdateMeasure> {
    const { mdp, team, kernels } = this;
    const before = this.intermediate;
    const rows = await allStates(agent, mdp, team, kernels);
    const joint = before.joint.map((factor, j) => (j === agent.index ? rows : factor));
    const after = { joint, evaluation: evaluate(mdp, joint) };
    const update = agentUpdate(mdp, before.joint, joint, agent.index, before.evaluation, after.evaluation);
    this.intermediate = after;
    return {
      L: exactly(update.L),
      dJ: exactly(update.dJ),
      klMax: update.klMax,
      tvMax: update.tvMax,
      aMax: update.aMax,
      aMaxSource: 'computed',
      bounds: boundsForEvent(update.lowerBounds, update.penalties, mdp.gamma),
    };
  }

  private judge(agent: number, { joint, evaluation }: Evaluated): ExactJudgement {
    const { mdp } = this;
    const A = mdp.nActions[agent]!;
    const states = Array.from({ length: mdp.nStates }, (_, s) => s).filter((s) => isActive(mdp, s, agent));
    const advantage = exactAdvantageForAgent(mdp, joint, evaluation, agent);
    const rowsOf = (table: Float64Array) =>
      Float64Array.from(states.flatMap((s) => [...table.subarray(s * A, (s + 1) * A)]));
    return {
      states,
      occupancy: Float64Array.from(states, (s) => evaluation.d[s]!),
      current: rowsOf(joint[agent]!),
      advantage: rowsOf(advantage),
    };
  }
}
