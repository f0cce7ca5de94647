/**
 * Relay: n runners on a track of n lanes and w columns bring a baton from the first lane to the end of the last. All move
 * at once. Runner k stays in lane k; the baton passes from lane to lane when its holder and the next runner stand in the
 * same column and both choose to hand over. A runner that has handed over leaves the track and acts no more.
 *
 *   lane 0   A*  .  .  .       A starts in column 0 with the baton (*), the others in columns drawn uniformly.
 *   lane 1   .   .  B  .       The episode ends when the last runner holds the baton in column w - 1.
 *   lane 2   .   C  .  G
 *
 * Left and right move one column, and fail with probability `slip`, each runner's independently; at a wall they do nothing.
 * Hand over stands still. Every decision costs `stepCost`, and delivering the baton pays 1.
 *
 * States: who holds the baton, and the columns of the holder and of the runners after it. With h the holder there are
 * w^(n - h); where the last runner holds it, column w - 1 is the end. So |S| = w^n + ... + w^2 + w, the end included.
 */
import { ConfigError } from '../runs/configError.ts';
import type { Option } from '../runs/options.ts';
import { type Branch, enumerableTask, modelFits, type Rules } from './enumerable.ts';
import { checkDiscount, TaskParameters } from './parameters.ts';
import type { MapPiece, Task, TaskDefinition, TaskMap } from './task.ts';

const ACTIONS = ['left', 'right', 'hand over'] as const;
const STEPS = [-1, 1, 0] as const;
const HAND_OVER = 2;
const NARROWEST = 2;
const WIDEST = 7;

const options: readonly Option[] = [
  {
    key: 'agents',
    kind: 'integer',
    label: 'Agents',
    meaning: 'How many runners carry the baton in turn, a lane each.',
    default: 3,
    min: 2,
    max: 4,
    main: true,
  },
  {
    key: 'width',
    kind: 'integer',
    label: 'Width',
    meaning: 'Columns of the track. The number of states grows like width to the power of agents.',
    unit: 'columns',
    default: 4,
    min: NARROWEST,
    max: WIDEST,
    main: true,
  },
  {
    key: 'stepCost',
    kind: 'number',
    label: 'Step cost',
    meaning: 'What every decision costs the team; delivering the baton pays 1.',
    unit: 'reward',
    default: 0.02,
    min: 0,
    max: 1,
  },
  {
    key: 'slip',
    kind: 'number',
    label: 'Slip',
    meaning: 'Probability that a step left or right fails, for each runner alone.',
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
    default: 40,
    min: 1,
    max: 400,
  },
];

interface Track {
  readonly nAgents: number;
  /** w */
  readonly width: number;
  readonly stepCost: number;
  readonly slip: number;
}

/** Where everybody is while the race goes on. */
interface Scene {
  readonly holder: number;
  /** [n] columns; those of runners before the holder mean nothing. */
  readonly columns: readonly number[];
}

/** |S| = w + w^2 + ... + w^n. */
function stateCount(nAgents: number, width: number): number {
  return Array.from({ length: nAgents }, (_, k) => width ** (k + 1)).reduce((sum, count) => sum + count, 0);
}

/** Scenes as numbers: by holder, then by column, the last runner's varying fastest. The last number is the end. */
class Numbering {
  readonly count: number;

  constructor(private readonly track: Track) {
    this.count = stateCount(track.nAgents, track.width);
  }

  get end(): number {
    return this.count - 1;
  }

  numberOf({ holder, columns }: Scene): number {
    const { width, nAgents } = this.track;
    // The last runner's last column comes last of all: it is the end.
    const place = columns.slice(holder).reduce((sum, column) => sum * width + column, 0);
    return this.count - stateCount(nAgents - holder, width) + place;
  }

  /** @param state any but the end. */
  sceneOf(state: number): Scene {
    const { width, nAgents } = this.track;
    let holder = 0;
    while (state >= this.count - stateCount(nAgents - holder - 1, width)) holder++;
    let place = state - (this.count - stateCount(nAgents - holder, width));
    const columns: number[] = Array(nAgents).fill(0);
    for (let runner = nAgents - 1; runner >= holder; runner--) {
      columns[runner] = place % width;
      place = Math.floor(place / width);
    }
    return { holder, columns };
  }
}

/** Everything that the runners' steps may lead to, each failing with probability `slip`. */
function afterSteps({ width, slip }: Track, { holder, columns }: Scene, actions: readonly number[]) {
  let results: { probability: number; columns: number[] }[] = [{ probability: 1, columns: [...columns] }];
  for (let runner = holder; runner < columns.length; runner++) {
    const from = columns[runner]!;
    const to = Math.min(width - 1, Math.max(0, from + STEPS[actions[runner]!]!));
    if (to === from) continue;
    results = results.flatMap((result) => [
      { probability: result.probability * (1 - slip), columns: result.columns.with(runner, to) },
      { probability: result.probability * slip, columns: result.columns },
    ]);
  }
  return results;
}

function relayRules(track: Track, numbering: Numbering): Rules {
  const { nAgents, width, stepCost } = track;
  const runners = Array.from({ length: nAgents }, (_, runner) => runner);
  const { end } = numbering;
  const mu = new Float64Array(numbering.count);
  // With A in column 0, the columns of the others are the last digits of the first w^(n-1) numbers.
  mu.fill(1 / width ** (nAgents - 1), 0, width ** (nAgents - 1));
  return {
    nStates: numbering.count,
    nActions: runners.map(() => ACTIONS.length),
    noop: runners.map(() => HAND_OVER),
    mu,
    actors: (state) => (state === end ? [] : runners.slice(numbering.sceneOf(state).holder)),
    branches(state, actions): Branch[] {
      const scene = numbering.sceneOf(state);
      const { holder, columns } = scene;
      const next = holder + 1;
      const met = next < nAgents && columns[holder] === columns[next];
      const handsOver = met && actions[holder] === HAND_OVER && actions[next] === HAND_OVER;
      return afterSteps(track, scene, actions).map((after) => {
        const number = numbering.numberOf({ holder: handsOver ? next : holder, columns: after.columns });
        const reward = (number === end ? 1 : 0) - stepCost;
        return { probability: after.probability, next: number, reward };
      });
    },
    ending: (state) => (state === end ? 'delivered' : undefined),
  };
}

function relayMap({ nAgents, width }: Track, numbering: Numbering): TaskMap {
  const scenes = Array.from({ length: numbering.end }, (_, state): MapPiece[] => {
    const { holder, columns } = numbering.sceneOf(state);
    return columns
      .map((x, agent) => ({ x, y: agent, agent, carries: agent === holder }))
      .filter(({ agent }) => agent >= holder);
  });
  return { width, height: nAgents, goals: [{ x: width - 1, y: nAgents - 1 }], pieces: [...scenes, []] };
}

/** Throws a ConfigError if the transition model of so wide a track would not fit in memory. */
function checkSize(nAgents: number, width: number): void {
  const fits = (columns: number) => modelFits(stateCount(nAgents, columns), ACTIONS.length ** nAgents);
  if (fits(width)) return;
  let widest = width;
  while (!fits(widest)) widest--;
  throw new ConfigError([
    {
      field: 'task.width',
      given: `${width} with ${nAgents} agents, ${stateCount(nAgents, width)} states`,
      allowed: `a whole number from ${NARROWEST} to ${widest} with ${nAgents} agents: the model must fit in memory`,
    },
  ]);
}

const nameOf = (runner: number) => String.fromCharCode(65 + runner);

export const relay: TaskDefinition = {
  name: 'relay',
  title: 'Relay',
  meaning:
    'Runners, a lane each, bring a baton to the goal. A hand-over works only if both have met and both want it, so nobody can improve it alone.',
  enumerable: true,
  policies: ['tabular'],
  options,
  create(parameters, gamma): Task {
    checkDiscount(gamma);
    const read = new TaskParameters(options, parameters);
    const track = {
      nAgents: read.number('agents'),
      width: read.number('width'),
      stepCost: read.number('stepCost'),
      slip: read.number('slip'),
    };
    checkSize(track.nAgents, track.width);
    const numbering = new Numbering(track);
    return enumerableTask({
      name: 'relay',
      rules: relayRules(track, numbering),
      horizon: read.number('horizon'),
      gamma,
      maxReturn: Math.max(1, track.stepCost / (1 - gamma)),
      actionNames: ACTIONS,
      stateName: (state) => {
        if (state === numbering.end) return 'delivered';
        const { holder, columns } = numbering.sceneOf(state);
        return columns
          .flatMap((x, k) => (k < holder ? [] : [`${nameOf(k)}${k === holder ? '*' : ''}${x}`]))
          .join(' ');
      },
      map: relayMap(track, numbering),
    });
  },
};
