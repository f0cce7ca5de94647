/**
 * Chain: the team walks one walker through a long corridor of two lanes. Each agent owns a section of m cells, so what an
 * agent meets, and how often, is decided by those before it.
 *
 *   upper   o o D o o D o o o  -> 1        n = 3 sections of m = 3 cells; D: a door to the next section
 *   lower   o o D o o D o o o  -> 1
 *
 * On a cell its owner waits, or goes high or low. High is the step forward in the upper lane and low in the lower; the
 * other one leads a cell back, but not out of the section. What is right in one lane is wrong in the other.
 *
 * At a door (the last cell of a section but the last) its owner and the next agent act at once, and exactly one of them
 * must go: the walker passes into the next section, in the lane that the one names. If both wait it stays; if both go
 * the door jams, which costs `jam` and sends the walker back to the first cell of the corridor. Every step forward fails
 * with probability `slip`, and then nothing moves. Leaving the last cell pays 1 and ends the episode.
 *
 * Why this is hard on old data: at the start all wait with probability `habit`, so at every door each of the two does
 * better to go. The one who updates second, judged under the team that the first one left, sees the door open and stays
 * back. Judged on data from before, it goes too, and they jam: a gain for each is a loss for both, as in doorway, at
 * every one of the n - 1 doors that the team must pass in a row. Where one agent acts alone old advantages do no such
 * harm: a policy that is better at every state by the old ones is better as a whole. The shorter the sections, the more
 * of the corridor is doors; with m = 1 all but the last cell.
 */
import type { Option } from '../runs/options.ts';
import { type Branch, enumerableTask, type Rules } from './enumerable.ts';
import { checkDiscount, TaskParameters } from './parameters.ts';
import type { MapPiece, Task, TaskDefinition, TaskMap } from './task.ts';

/** Going in lane l is action l + 1. */
const ACTIONS = ['wait', 'high', 'low'] as const;
const WAIT = 0;
const LANES = ['upper', 'lower'] as const;

const options: readonly Option[] = [
  {
    key: 'agents',
    kind: 'integer',
    label: 'Agents',
    meaning: 'How many agents share the corridor, a section each; there are agents − 1 doors.',
    default: 3,
    min: 2,
    max: 6,
    main: true,
  },
  {
    key: 'section',
    kind: 'integer',
    label: 'Section',
    meaning: 'Cells of each section. The shorter, the more of the corridor is doors, where two agents meet.',
    unit: 'cells',
    default: 2,
    min: 1,
    max: 6,
    main: true,
  },
  {
    key: 'habit',
    kind: 'number',
    label: 'Habit',
    meaning:
      'Probability with which every agent waits at the start. At a door two hesitant agents each do better to go.',
    default: 0.8,
    min: 0.01,
    max: 0.99,
    main: true,
  },
  {
    key: 'jam',
    kind: 'number',
    label: 'Jam cost',
    meaning: 'What it costs when both go at a door; the walker is also sent back to the beginning.',
    unit: 'reward',
    default: 0.3,
    min: 0,
    max: 10,
    main: true,
  },
  {
    key: 'slip',
    kind: 'number',
    label: 'Slip',
    meaning: 'Probability that a step forward fails and the walker stays where it is.',
    default: 0.1,
    min: 0,
    max: 0.9,
  },
  {
    key: 'horizon',
    kind: 'integer',
    label: 'Horizon',
    meaning: 'Decisions in a sampled episode before it is cut off. Exact advantages look at infinitely many.',
    unit: 'decisions',
    default: 60,
    min: 1,
    max: 400,
  },
];

interface Corridor {
  readonly nAgents: number;
  /** m */
  readonly section: number;
  readonly jam: number;
  readonly slip: number;
}

const cellOf = (state: number) => Math.floor(state / 2);
const laneOf = (state: number) => state % 2;
const stateOf = (cell: number, lane: number) => 2 * cell + lane;

/** States are 2 cell + lane, and last the end of the corridor. */
function chainRules({ nAgents, section, jam, slip }: Corridor): Rules {
  const length = nAgents * section;
  const end = 2 * length;
  const ownerOf = (state: number) => Math.floor(cellOf(state) / section);
  const isDoor = (state: number) => (cellOf(state) + 1) % section === 0 && ownerOf(state) < nAgents - 1;
  const mu = new Float64Array(end + 1);
  mu.set([0.5, 0.5]);

  const surely = (next: number, reward = 0): Branch[] => [{ probability: 1, next, reward }];
  const forward = (state: number, lane: number): Branch[] => {
    const out = cellOf(state) === length - 1;
    const next = out ? end : stateOf(cellOf(state) + 1, lane);
    return [
      { probability: 1 - slip, next, reward: out ? 1 : 0 },
      { probability: slip, next: state, reward: 0 },
    ];
  };
  const walk = (state: number, action: number): Branch[] => {
    if (action === WAIT) return surely(state);
    const lane = laneOf(state);
    if (action === lane + 1) return forward(state, lane);
    const first = ownerOf(state) * section;
    return surely(stateOf(Math.max(first, cellOf(state) - 1), lane));
  };
  const pass = (state: number, going: readonly number[]): Branch[] => {
    const [action] = going;
    if (action === undefined) return surely(state);
    return going.length === 1 ? forward(state, action - 1) : surely(stateOf(0, laneOf(state)), -jam);
  };

  return {
    nStates: end + 1,
    nActions: Array.from({ length: nAgents }, () => ACTIONS.length),
    noop: Array.from({ length: nAgents }, () => WAIT),
    mu,
    actors(state) {
      if (state === end) return [];
      const owner = ownerOf(state);
      return isDoor(state) ? [owner, owner + 1] : [owner];
    },
    branches(state, actions) {
      const owner = ownerOf(state);
      if (!isDoor(state)) return walk(state, actions[owner]!);
      return pass(
        state,
        actions.slice(owner, owner + 2).filter((action) => action !== WAIT),
      );
    },
    ending: (state) => (state === end ? 'through' : undefined),
  };
}

/** Cells in two rows, the walker on one of them. */
function chainMap({ nAgents, section }: Corridor): TaskMap {
  const length = nAgents * section;
  const walkers = Array.from({ length: 2 * length }, (_, state): MapPiece[] => [
    { x: cellOf(state), y: laneOf(state), carries: true },
  ]);
  return {
    width: length,
    height: LANES.length,
    goals: LANES.map((_, y) => ({ x: length - 1, y })),
    pieces: [...walkers, []],
  };
}

export const chain: TaskDefinition = {
  name: 'chain',
  title: 'Chain',
  meaning:
    'A long corridor in two lanes, a section for each agent. What is right in one lane is wrong in the other, and at every door exactly one of two must go: judged on old data both do, and the door jams.',
  enumerable: true,
  policies: ['tabular'],
  options,
  create(parameters, gamma): Task {
    checkDiscount(gamma);
    const read = new TaskParameters(options, parameters);
    const corridor = {
      nAgents: read.number('agents'),
      section: read.number('section'),
      jam: read.number('jam'),
      slip: read.number('slip'),
    };
    const habit = read.number('habit');
    const rules = chainRules(corridor);
    const going = Math.log((1 - habit) / 2);
    return enumerableTask({
      name: 'chain',
      rules,
      horizon: read.number('horizon'),
      gamma,
      maxReturn: Math.max(1, corridor.jam / (1 - gamma)),
      actionNames: ACTIONS,
      stateName: (state) => {
        if (rules.ending?.(state) !== undefined) return 'end';
        const door = rules.actors(state).length > 1 ? ', door' : '';
        return `${LANES[laneOf(state)]} ${cellOf(state)}${door}`;
      },
      initialLogits: () => [Math.log(habit), going, going],
      map: chainMap(corridor),
    });
  },
};
