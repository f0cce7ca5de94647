/**
 * Sum: the agents write the answer of an addition such as `47+85=` into a shared context, one digit each in turn. Whoever
 * writes next reads what the others wrote, so one agent's update moves the states of those after it. One agent acts at
 * a time (masked activation), and an exact verifier pays 1 at the last digit if the whole answer is right, else 0.
 *
 * Columns: the prompt takes P = 2 digits + 2, and the answer has digits + 1 digits. The digit chosen at column c is the
 * observation of column c + 1. The first is chosen where the prompt ends, at P - 1, the last at P - 1 + digits, and that
 * one is never read again: T = P + digits. The reward comes with decision number digits (from 0), so a right answer's
 * return is gamma^digits.
 */
import type { Rng } from '../kernels/rng.ts';
import type { Option } from '../runs/options.ts';
import { checkAction, checkDiscount, TaskParameters } from './parameters.ts';
import type { Episode, Task, TaskDefinition } from './task.ts';

/** The shared vocabulary: token 0..9 is that digit. */
const TOKENS = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '+', '='] as const;
const PLUS = 10;
const EQUALS = 11;

const options: readonly Option[] = [
  {
    key: 'agents',
    kind: 'integer',
    label: 'Agents',
    meaning: 'How many agents take turns. The answer has digits + 1 digits; agents beyond that never write.',
    default: 3,
    min: 1,
    max: 6,
    main: true,
  },
  {
    key: 'digits',
    kind: 'integer',
    label: 'Digits',
    meaning: 'Digits of each of the two numbers: the difficulty.',
    unit: 'digits',
    default: 2,
    min: 1,
    max: 3,
    main: true,
  },
  {
    key: 'reversed',
    kind: 'boolean',
    label: 'Units first',
    meaning:
      'Write the least significant digit first. Easier: each digit then needs two digits and one carry, which the digits before it reveal; the other way round the first digit depends on every carry.',
    default: true,
  },
];

/** The `count` decimal digits of `value`, most significant first, zero-padded. */
function decimalDigits(value: number, count: number): number[] {
  return Array.from({ length: count }, (_, k) => Math.floor(value / 10 ** (count - 1 - k)) % 10);
}

class SumEpisode implements Episode {
  readonly prompt: readonly number[];
  /** The right digits, in writing order. */
  private readonly answer: readonly number[];
  private position = 0;
  private allRight = true;

  constructor(
    a: number,
    b: number,
    digits: number,
    reversed: boolean,
    private readonly nAgents: number,
  ) {
    this.prompt = [...decimalDigits(a, digits), PLUS, ...decimalDigits(b, digits), EQUALS];
    const answer = decimalDigits(a + b, digits + 1);
    this.answer = reversed ? answer.reverse() : answer;
  }

  actors(): readonly number[] {
    return [this.position % this.nAgents];
  }

  act(actions: readonly number[]) {
    const right = this.answer[this.position];
    if (right === undefined)
      throw new RangeError(`sum: the answer is complete after ${this.answer.length} digits`);
    const actor = this.position % this.nAgents;
    const token = checkAction('sum', actor, actions[actor], TOKENS.length);
    this.allRight &&= token === right;
    this.position++;
    if (this.position < this.answer.length) return { reward: 0, observation: token };
    const end = { kind: 'terminated', why: this.allRight ? 'solved' : 'wrong' } as const;
    return { reward: this.allRight ? 1 : 0, observation: token, end };
  }

  expert(): readonly number[] {
    const actor = this.position % this.nAgents;
    return Array.from({ length: this.nAgents }, (_, agent) =>
      agent === actor ? (this.answer[this.position] ?? 0) : 0,
    );
  }
}

export const sum: TaskDefinition = {
  name: 'sum',
  title: 'Sum in turns',
  meaning:
    'The agents take turns writing the digits of a sum into a shared context. The team is paid only if the whole answer is right.',
  enumerable: false,
  hasSolver: true,
  policies: ['onnx'],
  options,
  create(parameters, gamma): Task {
    checkDiscount(gamma);
    const read = new TaskParameters(options, parameters);
    const nAgents = read.number('agents');
    const digits = read.number('digits');
    const reversed = read.boolean('reversed');
    const agents = Array.from({ length: nAgents }, (_, agent) => agent);
    return {
      name: 'sum',
      nAgents,
      nActions: agents.map(() => TOKENS.length),
      noop: agents.map(() => 0),
      observation: 'token',
      observationCount: TOKENS.length,
      columns: 2 * digits + 2 + digits,
      gamma,
      // Not gamma^digits: from the last digit on, the return is 1.
      maxReturn: 1,
      start: (rng: Rng) =>
        new SumEpisode(rng.integer(10 ** digits), rng.integer(10 ** digits), digits, reversed, nAgents),
      actionName: (agent, action) => TOKENS[checkAction('sum', agent, action, TOKENS.length)]!,
      observationName: (observation) => {
        const name = TOKENS[observation];
        if (name !== undefined) return name;
        throw new RangeError(
          `sum: observation ${observation}; allowed: a token from 0 to ${TOKENS.length - 1}`,
        );
      },
      uniqueSolution: true,
    };
  },
};
