import type { Kernels } from '../kernels/kernels.ts';
import { deriveKey, Rng } from '../kernels/rng.ts';
import type { Observations } from '../policies/policy.ts';
import type { EndReason, Episode, Task } from '../tasks/task.ts';
import type { Team } from './team.ts';

/**
 * B trajectories of a team, right-padded to T columns. Column c of trajectory b holds observation o_c and the
 * decision taken there; masks follow from `lengths` and `active` alone, never from a padding token.
 */
export interface Rollouts {
  /** B */
  readonly batch: number;
  /** T */
  readonly steps: number;
  /** [B * T] */
  readonly observations: Int32Array;
  /** Per agent, [B * T]: the action taken, the task's no-op where the agent was inactive. */
  readonly actions: readonly Int32Array[];
  /** Per agent, [B * T] 0/1. */
  readonly active: readonly Int32Array[];
  /** Per agent, [B * T] log pi_cur(a|s) as the sampler saw it; 0 where inactive. */
  readonly sampledLogProb: readonly Float64Array[];
  /** [B * T] */
  readonly rewards: Float64Array;
  /** [B] columns in use. */
  readonly lengths: Int32Array;
  /** [B] column of the first decision. */
  readonly firstDecision: Int32Array;
  /** [B] why each ended. */
  readonly ends: readonly EndReason[];
  /** [B] group of each trajectory: those of one prompt. */
  readonly group: Int32Array;
  /** [B] discounted from the first decision: sum_k gamma^k r_k. */
  readonly returns: Float64Array;
}

export interface RolloutRequest {
  readonly groups: number;
  readonly groupSize: number;
  readonly topP: number;
  readonly seed: number;
  readonly stage: number;
}

/** All observations of the rollouts, as a policy reads them. */
export function observationsOf(rollouts: Rollouts): Observations {
  return { batch: rollouts.batch, steps: rollouts.steps, data: rollouts.observations };
}

/** Algorithm 1, line 1: roll out pi_cur, a group of G trajectories for each prompt. */
export async function rollOut(
  team: Team,
  task: Task,
  kernels: Kernels,
  request: RolloutRequest,
): Promise<Rollouts> {
  const { groups, groupSize, seed, stage } = request;
  const episodes = Array.from({ length: groups * groupSize }, (_, b) =>
    task.start(Rng.of(seed, 'prompts', stage, Math.floor(b / groupSize))),
  );
  const recorder = new Recorder(task, episodes, groupSize);
  for (let tick = 0; recorder.running().length > 0; tick++) {
    const joint = episodes.map(() => [...task.noop]);
    for (const agent of team.agents) {
      const rows = recorder.running().filter((b) => episodes[b]!.actors().includes(agent.index));
      if (rows.length === 0) continue;
      const key = deriveKey(seed, 'actions', stage, tick, agent.index);
      const drawn = await drawActions(team, agent.index, recorder, rows, kernels, key, request.topP);
      rows.forEach((b) => {
        joint[b]![agent.index] = drawn.actions[b]!;
        recorder.decide(b, agent.index, drawn.actions[b]!, drawn.logProb[b]!);
      });
    }
    for (const b of recorder.running()) {
      recorder.advance(b, episodes[b]!.act(joint[b]!, Rng.of(seed, 'transitions', stage, tick, b)));
    }
  }
  return recorder.finish();
}

/** Agent j's actions in the trajectories `rows`; trajectory b always uses counter b of the stream. */
async function drawActions(
  team: Team,
  j: number,
  recorder: Recorder,
  rows: readonly number[],
  kernels: Kernels,
  key: readonly [number, number],
  topP: number,
): Promise<{ actions: Float64Array; logProb: Float64Array }> {
  const { observations, row } = recorder.context(rows);
  const logits = await team.agents[j]!.policy.forward(observations);
  const index = kernels.tensor(row, [row.length], 'decision rows');
  const decisions = kernels.gatherRows(logits, index);
  const sampled = kernels.sample({
    logits: decisions,
    temperature: team.temperature,
    topP,
    key,
    firstCounter: 0,
  });
  const [actions, logProb] = await kernels.read(sampled.actions, sampled.logProb);
  kernels.release(logits, index, decisions, sampled.actions, sampled.logProb);
  return { actions: actions!, logProb: logProb! };
}

/** Collects trajectories column by column. */
class Recorder {
  private readonly batch: number;
  private readonly steps: number;
  private readonly observations: Int32Array;
  private readonly actions: Int32Array[];
  private readonly active: Int32Array[];
  private readonly logProb: Float64Array[];
  private readonly rewards: Float64Array;
  private readonly returns: Float64Array;
  private readonly column: Int32Array;
  private readonly firstDecision: Int32Array;
  private readonly ends: (EndReason | undefined)[];

  constructor(
    private readonly task: Task,
    episodes: readonly Episode[],
    private readonly groupSize: number,
  ) {
    const batch = episodes.length;
    const steps = task.columns;
    this.batch = batch;
    this.steps = steps;
    this.observations = new Int32Array(batch * steps);
    this.actions = task.noop.map((noop) => new Int32Array(batch * steps).fill(noop));
    this.active = task.noop.map(() => new Int32Array(batch * steps));
    this.logProb = task.noop.map(() => new Float64Array(batch * steps));
    this.rewards = new Float64Array(batch * steps);
    this.returns = new Float64Array(batch);
    this.column = new Int32Array(batch);
    this.firstDecision = new Int32Array(batch);
    this.ends = episodes.map(() => undefined);
    episodes.forEach((episode, b) => {
      this.observations.set(episode.prompt, b * steps);
      this.column[b] = episode.prompt.length - 1;
      this.firstDecision[b] = episode.prompt.length - 1;
    });
  }

  /** Trajectories that have not ended. */
  running(): number[] {
    return this.ends.flatMap((end, b) => (end === undefined ? [b] : []));
  }

  /**
   * What a policy must see to decide in `rows`: whole contexts for tokens, the state alone otherwise, and for every
   * trajectory its row of logits (0 for those not asked about, whose draw is ignored).
   */
  context(rows: readonly number[]): { observations: Observations; row: Int32Array } {
    const tokens = this.task.observation === 'token';
    const steps = tokens ? Math.max(...rows.map((b) => this.column[b]! + 1)) : 1;
    const data = new Int32Array(rows.length * steps);
    const row = new Int32Array(this.batch);
    rows.forEach((b, n) => {
      const column = this.column[b]!;
      const from = b * this.steps + (tokens ? 0 : column);
      data.set(this.observations.subarray(from, from + steps), n * steps);
      row[b] = n * steps + (tokens ? column : 0);
    });
    return { observations: { batch: rows.length, steps, data }, row };
  }

  decide(b: number, agent: number, action: number, logProb: number): void {
    const at = b * this.steps + this.column[b]!;
    this.actions[agent]![at] = action;
    this.active[agent]![at] = 1;
    this.logProb[agent]![at] = logProb;
  }

  advance(b: number, outcome: { reward: number; observation: number; end?: EndReason }): void {
    const column = this.column[b]!;
    const decision = column - this.firstDecision[b]!;
    this.rewards[b * this.steps + column] = outcome.reward;
    this.returns[b] = this.returns[b]! + this.task.gamma ** decision * outcome.reward;
    this.column[b] = column + 1;
    this.ends[b] = outcome.end;
    if (outcome.end === undefined) this.observations[b * this.steps + column + 1] = outcome.observation;
  }

  finish(): Rollouts {
    return {
      batch: this.batch,
      steps: this.steps,
      observations: this.observations,
      actions: this.actions,
      active: this.active,
      sampledLogProb: this.logProb,
      rewards: this.rewards,
      lengths: this.column,
      firstDecision: this.firstDecision,
      ends: this.ends.flatMap((end) => (end === undefined ? [] : [end])),
      group: Int32Array.from({ length: this.batch }, (_, b) => Math.floor(b / this.groupSize)),
      returns: this.returns,
    };
  }
}
