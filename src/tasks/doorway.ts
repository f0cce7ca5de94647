/**
 * Doorway: n agents stand before one door and each chooses to wait or to go. The reward of a round depends on how many
 * go: none 0, one 1, and k >= 2 collide for -c (k - 1).
 *
 * If every agent goes with probability p, going instead of waiting gains an agent
 *   (1 - p)^m - m p (1 - p)^(m-1) - c (1 - (1 - p)^m),   m = n - 1 others,
 * (the door was free; its only user is now hit; one more body in a collision), so below some p* each alone should go.
 * All of them reasoning so at once go from p towards 1, where the team gets -c (n - 1): a best reply for each is a loss
 * for all. Moving in turn, the second agent already sees the first one's new policy and stays back.
 *
 * One state for ever: the next round does not depend on this one, so J = E[r] / (1 - gamma) for every gamma, and at
 * gamma = 0 the task is the one-shot game itself, with no occupancy shift and no penalty in any bound.
 */
import type { Mdp } from '../exact/mdp.ts';
import type { Option } from '../runs/options.ts';
import { checkAction, checkDiscount, TaskParameters } from './parameters.ts';
import type { Episode, Task, TaskDefinition } from './task.ts';

const WAIT = 0;
const GO = 1;
const ACTIONS = ['wait', 'go'] as const;

const options: readonly Option[] = [
  {
    key: 'agents',
    kind: 'integer',
    label: 'Agents',
    meaning: 'How many agents stand before the door.',
    default: 3,
    min: 2,
    max: 6,
    main: true,
  },
  {
    key: 'collision',
    kind: 'number',
    label: 'Collision cost',
    meaning: 'What every agent beyond the first costs the team when several go at once.',
    unit: 'reward',
    default: 2,
    min: 0,
    max: 10,
    main: true,
  },
  {
    key: 'hesitation',
    kind: 'number',
    label: 'Hesitation',
    meaning: 'Probability with which every agent waits at the start. Hesitant agents each do better to go.',
    default: 0.9,
    min: 0.01,
    max: 0.99,
    main: true,
  },
  {
    key: 'rounds',
    kind: 'integer',
    label: 'Rounds',
    meaning: 'Rounds in a sampled episode before it is cut off. Exact advantages look at infinitely many.',
    default: 4,
    min: 1,
    max: 50,
  },
];

/** The team's reward when `going` agents go at once. */
function roundReward(going: number, collision: number): number {
  if (going === 0) return 0;
  return going === 1 ? 1 : -collision * (going - 1);
}

/** The single-state model: every joint action leads back to state 0. */
function doorwayModel(agents: number, collision: number, gamma: number): Mdp {
  const joint = 2 ** agents;
  // Joint actions count in binary, agent 0 being the highest bit, so the ones of j are the agents that go.
  const going = (j: number) =>
    Array.from({ length: agents }, (_, i) => (j >> i) & 1).filter((bit) => bit === GO).length;
  return {
    nStates: 1,
    nActions: Array.from({ length: agents }, () => ACTIONS.length),
    gamma,
    transitions: new Float64Array(joint).fill(1),
    rewards: Float64Array.from({ length: joint }, (_, j) => roundReward(going(j), collision)),
    mu: Float64Array.of(1),
    active: new Uint8Array(agents).fill(1),
    noop: Array.from({ length: agents }, () => WAIT),
  };
}

/** Every round all agents choose; after the last one the episode is cut off, not over. */
class DoorwayEpisode implements Episode {
  readonly prompt = [0];
  private round = 0;

  constructor(
    private readonly agents: readonly number[],
    private readonly collision: number,
    private readonly rounds: number,
  ) {}

  actors(): readonly number[] {
    return this.agents;
  }

  act(actions: readonly number[]) {
    if (this.round === this.rounds)
      throw new RangeError(`doorway: the episode was cut off after ${this.rounds} rounds`);
    const chosen = this.agents.map((agent) => checkAction('doorway', agent, actions[agent], ACTIONS.length));
    const reward = roundReward(chosen.filter((action) => action === GO).length, this.collision);
    this.round++;
    const outcome = { reward, observation: 0 };
    if (this.round < this.rounds) return outcome;
    return { ...outcome, end: { kind: 'truncated', why: 'horizon' } as const };
  }
}

export const doorway: TaskDefinition = {
  name: 'doorway',
  title: 'Doorway',
  meaning:
    'Several agents stand before one door. Each alone should go, but if several go at once they collide: updating all at once can lose where updating in turn wins.',
  enumerable: true,
  policies: ['tabular'],
  options,
  create(parameters, gamma): Task {
    checkDiscount(gamma);
    const read = new TaskParameters(options, parameters);
    const nAgents = read.number('agents');
    const collision = read.number('collision');
    const rounds = read.number('rounds');
    const hesitation = read.number('hesitation');
    const agents = Array.from({ length: nAgents }, (_, agent) => agent);
    return {
      name: 'doorway',
      nAgents,
      nActions: agents.map(() => ACTIONS.length),
      noop: agents.map(() => WAIT),
      observation: 'state',
      observationCount: 1,
      columns: rounds,
      gamma,
      maxReturn: Math.max(1, collision * (nAgents - 1)) / (1 - gamma),
      start: () => new DoorwayEpisode(agents, collision, rounds),
      initialLogits: () => [Math.log(hesitation), Math.log1p(-hesitation)],
      actionName: (agent, action) => ACTIONS[checkAction('doorway', agent, action, ACTIONS.length)]!,
      observationName: () => 'at the door',
      model: doorwayModel(nAgents, collision, gamma),
      uniqueSolution: false,
    };
  },
};
