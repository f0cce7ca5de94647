import fc from 'fast-check';
import type { JointPolicy, Mdp } from '../../src/exact/mdp.ts';
import { isActive, softmaxRows } from '../../src/exact/policy.ts';
import { Rng } from '../../src/kernels/rng.ts';

/** A random model, a team in it, and where each agent wants to go. */
export interface Scenario {
  readonly mdp: Mdp;
  readonly current: JointPolicy;
  readonly target: JointPolicy;
  /** Largest absolute reward. */
  readonly rMax: number;
}

interface Shape {
  readonly seed: number;
  readonly nActions: readonly number[];
  readonly nStates: number;
  readonly gamma: number;
  /** Who acts: everybody, one in turn, or anybody including nobody. */
  readonly activation: 'all' | 'turns' | 'some';
  /** Largest change of a logit. */
  readonly change: number;
  /** Both policies rule out some actions, not the same ones: a KL can be infinite. */
  readonly impossible: boolean;
  /** Transitions to one state each instead of to all. */
  readonly deterministic: boolean;
}

const shape: fc.Arbitrary<Shape> = fc.record({
  seed: fc.integer({ min: 0, max: 2 ** 31 }),
  nActions: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
  nStates: fc.integer({ min: 1, max: 5 }),
  gamma: fc.constantFrom(0, 0.1, 0.3, 0.5, 0.9, 0.99),
  activation: fc.constantFrom('all', 'turns', 'some'),
  change: fc.constantFrom(0, 0.001, 0.1, 1, 5),
  impossible: fc.boolean(),
  deterministic: fc.boolean(),
});

export const scenario: fc.Arbitrary<Scenario> = shape.map(build);

function build({
  seed,
  nActions,
  nStates,
  gamma,
  activation,
  change,
  impossible,
  deterministic,
}: Shape): Scenario {
  const rng = Rng.of(seed, 'init');
  const active = new Uint8Array(nStates * nActions.length);
  for (let s = 0; s < nStates; s++) {
    nActions.forEach((_, i) => {
      const acts = { all: true, turns: s % nActions.length === i, some: rng.uniform() < 0.6 }[activation];
      active[s * nActions.length + i] = Number(acts);
    });
  }
  const nJoint = nActions.reduce((product, count) => product * count, 1);
  const rMax = 10 ** rng.integer(3);
  const blank: Mdp = {
    nStates,
    nActions,
    gamma,
    transitions: new Float64Array(nStates * nJoint * nStates),
    rewards: new Float64Array(nStates * nJoint),
    mu: distribution(rng, nStates, deterministic),
    active,
    noop: nActions.map((count) => rng.integer(count)),
  };
  fillModel(blank, nJoint, rMax, deterministic, rng);
  const start = nActions.map((count) => logits(rng, nStates * count, 2));
  const moved = start.map((row) => row.map((logit) => logit + change * (2 * rng.uniform() - 1)));
  if (impossible) {
    for (const tables of [start, moved]) {
      for (const [i, table] of tables.entries()) ruleOut(table, nActions[i]!, rng);
    }
  }
  const probabilities = (tables: Float64Array[]) =>
    tables.map((table, i) => softmaxRows(table, nActions[i]!));
  return { mdp: blank, current: probabilities(start), target: probabilities(moved), rMax };
}

/** Random P and R in which the action of an inactive agent makes no difference. */
function fillModel(mdp: Mdp, nJoint: number, rMax: number, deterministic: boolean, rng: Rng): void {
  const { nStates, transitions, rewards } = mdp;
  for (let s = 0; s < nStates; s++) {
    for (let j = 0; j < nJoint; j++) {
      const same = withoutInactive(mdp, s, j);
      const row =
        same < j
          ? transitions.subarray((s * nJoint + same) * nStates, (s * nJoint + same + 1) * nStates)
          : undefined;
      transitions.set(row ?? distribution(rng, nStates, deterministic), (s * nJoint + j) * nStates);
      rewards[s * nJoint + j] = row ? rewards[s * nJoint + same]! : rMax * (2 * rng.uniform() - 1);
    }
  }
}

/** The joint action like j in which every inactive agent plays its first action. */
function withoutInactive(mdp: Mdp, s: number, j: number): number {
  return actionsOf(mdp, j).reduce(
    (index, a, i) => index * mdp.nActions[i]! + (isActive(mdp, s, i) ? a : 0),
    0,
  );
}

/** The agents' actions in joint action j, agent 0 varying slowest. */
export function actionsOf(mdp: Mdp, j: number): number[] {
  const actions: number[] = [];
  let rest = j;
  for (const count of [...mdp.nActions].reverse()) {
    actions.unshift(rest % count);
    rest = Math.floor(rest / count);
  }
  return actions;
}

function distribution(rng: Rng, size: number, deterministic: boolean): Float64Array {
  if (deterministic) {
    const certain = rng.integer(size);
    return Float64Array.from({ length: size }, (_, i) => Number(i === certain));
  }
  const weights = Float64Array.from({ length: size }, () => 0.01 + rng.uniform());
  const total = weights.reduce((sum, w) => sum + w, 0);
  return weights.map((w) => w / total);
}

function logits(rng: Rng, size: number, scale: number): Float64Array {
  return Float64Array.from({ length: size }, () => scale * (2 * rng.uniform() - 1));
}

/** Makes a third of the actions impossible, never a state's first. */
function ruleOut(table: Float64Array, width: number, rng: Rng): void {
  table.forEach((_, index) => {
    if (index % width > 0 && rng.uniform() < 1 / 3) table[index] = Number.NEGATIVE_INFINITY;
  });
}

/** All orders of 0..n-1. */
export function permutations(n: number): number[][] {
  if (n === 0) return [[]];
  return permutations(n - 1).flatMap((order) =>
    Array.from({ length: n }, (_, at) => order.toSpliced(at, 0, n - 1)),
  );
}
