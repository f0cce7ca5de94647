/**
 * Climbing: one-shot coordination games with misleading payoffs (Claus, Boutilier, "The dynamics of reinforcement
 * learning in cooperative multiagent systems", AAAI 1998). The team's reward for actions a, b, c of agent 0 (rows) and
 * agent 1 (columns):
 *
 *   climbing   11 -30   0        penalty   10   0   k
 *             -30   7   6                   0   2   0
 *               0   0   5                   k   0  10
 *
 * In the climbing game the best joint action (a, a) stands behind a cliff: against a uniform partner, a and b are worth
 * -19/3 and -17/3, and c 5/3. A team that only improves goes from c to (b, c) for 6 and to (b, b) for 7, where no single
 * agent can gain. In the penalty game (a, a) and (c, c) are equally good, and mixing them up costs k: against a uniform
 * partner a and c are worth (10 + k)/3 and the safe b 2/3, so below k = -8 caution comes first.
 *
 * Three agents are paid the worst of their three pairs, min over i < j of the table's entry (a_i, a_j): all three must
 * match for 11 or 10, and two agents keep the original game.
 *
 * One state for ever, as in doorway: J = E[r] / (1 - gamma).
 */
import type { Option } from '../runs/options.ts';
import { enumerableTask, type Rules } from './enumerable.ts';
import { checkDiscount, TaskParameters } from './parameters.ts';
import type { Task, TaskDefinition } from './task.ts';

const ACTIONS = ['a', 'b', 'c'] as const;

type Payoff = readonly (readonly number[])[];

const CLIMBING: Payoff = [
  [11, -30, 0],
  [-30, 7, 6],
  [0, 0, 5],
];

const penaltyGame = (k: number): Payoff => [
  [10, 0, k],
  [0, 2, 0],
  [k, 0, 10],
];

const options: readonly Option[] = [
  {
    key: 'agents',
    kind: 'integer',
    label: 'Agents',
    meaning: 'How many agents play. Three are paid the worst of their three pairs.',
    default: 2,
    min: 2,
    max: 3,
    main: true,
  },
  {
    key: 'game',
    kind: 'enum',
    label: 'Game',
    meaning: 'Which table of payoffs.',
    default: 'climbing',
    values: [
      { value: 'climbing', meaning: 'The best outcome, 11, lies behind a cliff of -30.' },
      { value: 'penalty', meaning: 'Two best outcomes, 10 each; mixing them up costs k.' },
    ],
    main: true,
  },
  {
    key: 'penalty',
    kind: 'number',
    label: 'Penalty k',
    meaning: 'Reward for mixing up the two best outcomes. Only in the penalty game.',
    unit: 'reward',
    default: -10,
    min: -100,
    max: 0,
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

/** The worst pair's payoff. */
function teamReward(payoff: Payoff, actions: readonly number[]): number {
  const pairs = actions.flatMap((row, i) => actions.slice(i + 1).map((column) => payoff[row]![column]!));
  return Math.min(...pairs);
}

function climbingRules(nAgents: number, payoff: Payoff): Rules {
  const agents = Array.from({ length: nAgents }, (_, agent) => agent);
  return {
    nStates: 1,
    nActions: agents.map(() => ACTIONS.length),
    noop: agents.map(() => 0),
    mu: Float64Array.of(1),
    actors: () => agents,
    branches: (_, actions) => [{ probability: 1, next: 0, reward: teamReward(payoff, actions) }],
  };
}

export const climbing: TaskDefinition = {
  name: 'climbing',
  title: 'Climbing',
  meaning:
    'A one-shot game with misleading payoffs: the best outcome needs everyone at once, and going there alone is punished. Getting better at every step is not the same as getting to the top.',
  enumerable: true,
  policies: ['tabular'],
  options,
  create(parameters, gamma): Task {
    checkDiscount(gamma);
    const read = new TaskParameters(options, parameters);
    const payoff = read.text('game') === 'climbing' ? CLIMBING : penaltyGame(read.number('penalty'));
    return enumerableTask({
      name: 'climbing',
      rules: climbingRules(read.number('agents'), payoff),
      horizon: read.number('rounds'),
      gamma,
      maxReturn: Math.max(...payoff.flat().map(Math.abs)) / (1 - gamma),
      actionNames: ACTIONS,
      stateName: () => 'the game',
    });
  },
};
