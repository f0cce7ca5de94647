/** A model that cannot be used as a policy: the message names the model, what is wrong and what would be right. */
export class ModelError extends Error {
  override readonly name = 'ModelError';

  /** `model`: file or display name; `problem`: what is wrong with it; `remedy`: what would be right. */
  constructor(
    readonly model: string,
    readonly problem: string,
    readonly remedy: string,
  ) {
    super(`model ${model}: ${problem}; ${remedy}`);
  }
}

/** An operator on the path from the parameters to the logits that reverse-mode differentiation does not know. */
export class MissingRuleError extends ModelError {
  constructor(
    model: string,
    readonly operator: string,
    readonly node: string,
    problem: string,
    differentiable: readonly string[],
  ) {
    super(model, problem, `operators that can be: ${differentiable.join(', ')}`);
  }
}

/** What `error` says, on one line: engines break theirs. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\s+/g, ' ').trim();
}
