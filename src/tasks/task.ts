import type { Mdp } from '../exact/mdp.ts';
import type { Rng } from '../kernels/rng.ts';
import type { Option } from '../runs/options.ts';

/** Why an episode ended: `terminated` has no future reward, `truncated` was cut off and may bootstrap. */
export interface EndReason {
  readonly kind: 'terminated' | 'truncated';
  /** One word for tables, e.g. `solved`, `wrong`, `horizon`. */
  readonly why: string;
}

export interface Outcome {
  readonly reward: number;
  /** The observation of the next column. */
  readonly observation: number;
  /** Present when the episode is over. */
  readonly end?: EndReason;
}

/** One running episode. Column c of a rollout holds observation o_c; the agents in `actors()` choose there. */
export interface Episode {
  /** Observations of the first columns; nobody acts before the last of them. Never empty. */
  readonly prompt: readonly number[];
  /** Agents active now, ascending; never empty while the episode runs. */
  actors(): readonly number[];
  /** Takes the joint action (length n; entries of inactive agents are ignored) and moves on. */
  act(actions: readonly number[], rng: Rng): Outcome;
  /** The solver's joint action here, where the task has a solver. */
  expert?(): readonly number[];
}

/** Something that stands on a map: an agent, or what the whole team moves. */
export interface MapPiece {
  readonly x: number;
  readonly y: number;
  /** Absent: it belongs to the team. */
  readonly agent?: number;
  /** It holds what the team must bring to the goal. */
  readonly carries: boolean;
}

/** How to draw the states of an enumerable task: a grid, x to the right, y down, both from 0. */
export interface TaskMap {
  readonly width: number;
  readonly height: number;
  /** Cells where the team wants to be. */
  readonly goals: readonly { readonly x: number; readonly y: number }[];
  /** [S] what stands where in each state; empty where the game is over. */
  readonly pieces: readonly (readonly MapPiece[])[];
}

/** A decision problem that a team plays (SAT.md section 1). */
export interface Task {
  readonly name: string;
  readonly nAgents: number;
  /** [n] V of each agent. */
  readonly nActions: readonly number[];
  /** [n] the action recorded for an inactive agent. */
  readonly noop: readonly number[];
  /** `state`: an observation is a state index; `token`: a token of a shared context that sequence models read. */
  readonly observation: 'state' | 'token';
  /** Number of different observations: |S|, or the vocabulary size. */
  readonly observationCount: number;
  /** T: the most columns a rollout can have, prompt included. */
  readonly columns: number;
  /** Discount. */
  readonly gamma: number;
  /** Bound on the absolute value of every return, for A_max when it cannot be computed. */
  readonly maxReturn: number;
  /** A new episode from the start distribution. The same rng state gives the same episode. */
  start(rng: Rng): Episode;
  /** [V] logits that a table of this agent starts from, where the task has a natural beginning; else all 0. */
  initialLogits?(agent: number): readonly number[];
  /** Human name of an action of an agent, for charts and tables. */
  actionName(agent: number, action: number): string;
  /** Human name of an observation. */
  observationName(observation: number): string;
  /** Present on enumerable tasks. */
  readonly model?: Mdp;
  /** Present where the states are places. */
  readonly map?: TaskMap;
  /**
   * True where an episode's return is gamma^(decisions - 1) if every action equals the solver's and 0 otherwise, so
   * that a team's expected return given a prompt is a product of probabilities and needs no action sampling.
   */
  readonly uniqueSolution: boolean;
}

/** A task as the config names it: metadata from which config schema, knobs and documentation derive. */
export interface TaskDefinition {
  readonly name: string;
  readonly title: string;
  /** One or two sentences for a newcomer. */
  readonly meaning: string;
  /** Whether its states can be enumerated, so that `create` gives a task with a `model`. */
  readonly enumerable: boolean;
  /** Present if its episodes have a solver (`expert`), so that agents can be warm-started. */
  readonly hasSolver?: true;
  /** Which policies can play it. */
  readonly policies: readonly ('tabular' | 'onnx')[];
  /** Parameters; config values arrive validated against these. */
  readonly options: readonly Option[];
  create(parameters: Readonly<Record<string, number | string | boolean>>, gamma: number): Task;
}
