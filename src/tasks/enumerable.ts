/**
 * Enumerable tasks from one set of rules. `Rules` says what can happen after a joint action; the transition model that
 * exact evaluation solves and the episodes that rollouts sample are both made of it, so they cannot disagree.
 */
import type { Mdp } from '../exact/mdp.ts';
import type { Rng } from '../kernels/rng.ts';
import { checkAction } from './parameters.ts';
import type { Episode, Outcome, Task } from './task.ts';

/** One thing that can happen after a joint action. */
export interface Branch {
  /** In [0, 1]; those of one joint action sum to 1. */
  readonly probability: number;
  readonly next: number;
  readonly reward: number;
}

/** The rules of a game with finitely many states. */
export interface Rules {
  /** S */
  readonly nStates: number;
  /** [n] actions of each agent. */
  readonly nActions: readonly number[];
  /** [n] what an inactive agent plays. */
  readonly noop: readonly number[];
  /** [S] start distribution; 0 where the game is over. */
  readonly mu: Float64Array;
  /** Agents that act in the state, ascending: at least one, none where the game is over. */
  actors(state: number): readonly number[];
  /** What the joint action [n] leads to; inactive agents play their no-op. Not asked where the game is over. */
  branches(state: number, actions: readonly number[]): readonly Branch[];
  /** Why the game is over in this state, in one word; undefined where it goes on. Absent: it never ends. */
  ending?(state: number): string | undefined;
}

/** Most entries S * J * S' of a transition model: 40 MB of float64. */
const MAX_TRANSITIONS = 5e6;

/** Whether a model of S states and J joint actions is small enough to be written out. */
export function modelFits(nStates: number, nJoint: number): boolean {
  return nStates ** 2 * nJoint <= MAX_TRANSITIONS;
}

/**
 * The transition model of the rules; states where the game is over lead to themselves with reward 0.
 *
 * @param gamma discount in [0, 1).
 */
export function modelOf(rules: Rules, gamma: number): Mdp {
  const { nStates, nActions, noop, mu } = rules;
  const nJoint = nActions.reduce((product, count) => product * count, 1);
  const transitions = new Float64Array(nStates * nJoint * nStates);
  const rewards = new Float64Array(nStates * nJoint);
  const active = new Uint8Array(nStates * nActions.length);
  for (let s = 0; s < nStates; s++) {
    const actors = rules.actors(s);
    for (const agent of actors) active[s * nActions.length + agent] = 1;
    const over = rules.ending?.(s) !== undefined;
    for (let j = 0; j < nJoint; j++) {
      const pair = s * nJoint + j;
      if (over) {
        transitions[pair * nStates + s] = 1;
        continue;
      }
      for (const { probability, next, reward } of rules.branches(s, jointAction(rules, actors, j))) {
        transitions[pair * nStates + next] = transitions[pair * nStates + next]! + probability;
        rewards[pair] = rewards[pair]! + probability * reward;
      }
    }
  }
  return { nStates, nActions, gamma, transitions, rewards, mu, active, noop };
}

/** The actions in joint action j, agent 0 varying slowest, with the no-op for those who do not act. */
function jointAction(rules: Rules, actors: readonly number[], j: number): number[] {
  const actions = [...rules.noop];
  let rest = j;
  for (let agent = rules.nActions.length - 1; agent >= 0; agent--) {
    const count = rules.nActions[agent]!;
    if (actors.includes(agent)) actions[agent] = rest % count;
    rest = Math.floor(rest / count);
  }
  return actions;
}

/** What a task says about itself beyond its rules. */
export interface EnumerableTask extends Pick<Task, 'name' | 'maxReturn' | 'initialLogits' | 'map'> {
  readonly rules: Rules;
  /** Decisions in a sampled episode before it is cut off. */
  readonly horizon: number;
  /** Discount in [0, 1). */
  readonly gamma: number;
  /** The same actions for every agent. */
  readonly actionNames: readonly string[];
  stateName(state: number): string;
}

/** The task with these rules: its model, and episodes sampled from the same rules. */
export function enumerableTask(description: EnumerableTask): Task {
  const { rules, horizon, actionNames, stateName, ...said } = description;
  return {
    ...said,
    nAgents: rules.nActions.length,
    nActions: rules.nActions,
    noop: rules.noop,
    observation: 'state',
    observationCount: rules.nStates,
    columns: horizon,
    start: (rng) => new SampledEpisode(said.name, rules, horizon, draw(rules.mu, rng)),
    actionName: (agent, action) => actionNames[checkAction(said.name, agent, action, actionNames.length)]!,
    observationName(observation) {
      if (observation >= 0 && observation < rules.nStates) return stateName(observation);
      throw new RangeError(
        `${said.name}: observation ${observation}; allowed: a state from 0 to ${rules.nStates - 1}`,
      );
    },
    model: modelOf(rules, said.gamma),
    uniqueSolution: false,
  };
}

/** Plays the rules until they end the game or the horizon cuts it off. */
class SampledEpisode implements Episode {
  readonly prompt: readonly number[];
  private decisions = 0;

  constructor(
    private readonly name: string,
    private readonly rules: Rules,
    private readonly horizon: number,
    private state: number,
  ) {
    this.prompt = [state];
  }

  actors(): readonly number[] {
    return this.rules.actors(this.state);
  }

  act(actions: readonly number[], rng: Rng): Outcome {
    const { name, rules, horizon } = this;
    if (rules.ending?.(this.state) !== undefined) throw new RangeError(`${name}: the episode is over`);
    if (this.decisions === horizon) {
      throw new RangeError(`${name}: the episode was cut off after ${horizon} decisions`);
    }
    const joint = [...rules.noop];
    for (const agent of this.actors()) {
      joint[agent] = checkAction(name, agent, actions[agent], rules.nActions[agent]!);
    }
    const branches = rules.branches(this.state, joint);
    const probabilities = branches.map((branch) => branch.probability);
    const { next, reward } = branches[draw(probabilities, rng)]!;
    this.state = next;
    this.decisions++;
    const outcome = { reward, observation: next };
    const why = rules.ending?.(next);
    if (why !== undefined) return { ...outcome, end: { kind: 'terminated', why } };
    if (this.decisions < horizon) return outcome;
    return { ...outcome, end: { kind: 'truncated', why: 'horizon' } };
  }
}

/** An index drawn with these probabilities. */
function draw(probabilities: ArrayLike<number>, rng: Rng): number {
  let left = rng.uniform();
  let chosen = 0;
  for (let k = 0; k < probabilities.length; k++) {
    if (probabilities[k]! === 0) continue;
    chosen = k;
    left -= probabilities[k]!;
    if (left < 0) break;
  }
  return chosen;
}
