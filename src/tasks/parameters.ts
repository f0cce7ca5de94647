import { ConfigError } from '../runs/configError.ts';
import { allowedRange, type Option, optionSchema } from '../runs/options.ts';

/** A task's parameters, each checked against its option when it is read. */
export class TaskParameters {
  constructor(
    private readonly options: readonly Option[],
    private readonly given: Readonly<Record<string, number | string | boolean>>,
  ) {}

  /** The value of a number option, its default where none was given. Throws a ConfigError if out of range. */
  number(key: string): number {
    return Number(this.value(key));
  }

  /** The value of a boolean option, its default where none was given. Throws a ConfigError if it is not one. */
  boolean(key: string): boolean {
    return this.value(key) === true;
  }

  /** The value of an enum option, its default where none was given. Throws a ConfigError if it is not one of its values. */
  text(key: string): string {
    return String(this.value(key));
  }

  private value(key: string): unknown {
    const option = this.options.find((candidate) => candidate.key === key);
    if (option === undefined) throw new RangeError(`the task declares no option ${key}`);
    const result = optionSchema(option).safeParse(this.given[key]);
    if (result.success) return result.data;
    throw new ConfigError([
      { field: `task.${key}`, given: JSON.stringify(this.given[key]), allowed: allowedRange(option) },
    ]);
  }
}

/** Throws a ConfigError unless 0 <= gamma < 1: an infinite sum of rewards must converge. */
export function checkDiscount(gamma: number): void {
  if (gamma >= 0 && gamma < 1) return;
  throw new ConfigError([
    { field: 'sat.gamma', given: String(gamma), allowed: 'a number from 0 and below 1' },
  ]);
}

/** Throws a RangeError unless `action` is one of the agent's `count` actions. */
export function checkAction(task: string, agent: number, action: number | undefined, count: number): number {
  if (action !== undefined && Number.isInteger(action) && action >= 0 && action < count) return action;
  throw new RangeError(
    `${task}: agent ${agent} was given action ${action}; allowed: a whole number from 0 to ${count - 1}`,
  );
}
