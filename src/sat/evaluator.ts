import type { Bound, BoundName, Estimate } from '../runs/events.ts';
import type { Agent } from './team.ts';

/** How good the team is now. */
export interface TeamMeasure {
  /** J of the newest intermediate team. */
  readonly J: Estimate;
  /** Share of solved episodes, where the task has a verifier. */
  readonly success?: Estimate;
}

/** Divergences at the states that a sample of trajectories visited, for certificates that cannot enumerate states. */
export interface VisitedDivergence {
  /** [N] KL(pi_tar || pi_cur) at visited decisions of the agent, nats. */
  readonly kl: Float64Array;
  /** [N] gamma^k / (number of trajectories), k the decision's index within its trajectory. */
  readonly weight: Float64Array;
}

/** What one agent update did: the ingredients and values of its certificate (SAT.md section 6). */
export interface UpdateMeasure {
  readonly L: Estimate;
  readonly dJ: Estimate;
  readonly klMax: number;
  readonly tvMax: number;
  readonly aMax: number;
  readonly aMaxSource: 'computed' | 'assumed';
  readonly bounds: Readonly<Record<BoundName, Bound>>;
}

/** Exact advantages of one agent, in the shape of `exactBatch`. */
export interface ExactJudgement {
  /** States where the agent acts. */
  readonly states: readonly number[];
  /** [states] d(s) */
  readonly occupancy: Float64Array;
  /** [states * A] pi_cur^(j)(a|s). */
  readonly current: Float64Array;
  /** [states * A] E over the other agents of A(s, a). */
  readonly advantage: Float64Array;
}

/** Measures a team and its updates: by enumeration where the task allows it, otherwise from samples. */
export interface Evaluator {
  readonly quality: 'exact' | 'estimated';
  /** Of the newest team; no computation. */
  measure(): TeamMeasure;
  /** Remembers the present team as pi_cur of a new stage. */
  beginStage(): void;
  /** Reads agent j's policy after its update and says what changed. Zero change if it kept pi_cur. */
  update(agent: Agent, visited: VisitedDivergence): Promise<UpdateMeasure>;
  /** Present on enumerable tasks. */
  readonly exact?: {
    /** Exact advantages under the newest intermediate team, or under pi_cur of the stage. */
    judge(agent: number, under: 'intermediate' | 'current'): ExactJudgement;
  };
}
