/** Runs a freshly loaded model once, so that what only shows when it runs is said before training begins. */

import type { Kernels } from '../kernels/kernels.ts';
import { ModelError, reasonOf } from './modelError.ts';
import type { ModelRuntime } from './modelRuntime.ts';
import type { Observations, Policy } from './policy.ts';

const SHORT = 2;
const LONG = 3;

export interface Trial {
  /** Name of the model, for errors. */
  readonly name: string;
  readonly runtime: ModelRuntime;
  readonly kernels: Kernels;
  /** Longest sequence that the model must accept; 3 if absent. */
  readonly longest?: number;
}

/**
 * Asks `policy` for logits on two shapes, [1, 2] and [2, longest] tokens, and for the gradients of the second with a zero
 * cotangent. On webgpu only the second shape is run, since each costs the compilation of shaders. Disposes of the policy
 * and throws `ModelError` if the engine fails, an output has another shape than it should, a logit is NaN or +Infinity
 * (-Infinity marks an impossible action) or a gradient is not finite.
 */
export async function tryOut(policy: Policy, trial: Trial): Promise<void> {
  const { name, runtime, longest = LONG } = trial;
  const long = observe(2, longest, policy.nActions);
  const short = observe(1, Math.min(SHORT, longest), policy.nActions);
  try {
    if (runtime.provider === 'wasm') await checkLogits(policy, short, trial);
    await checkLogits(policy, long, trial);
    await checkGradients(policy, long, trial);
  } catch (error) {
    await policy.dispose();
    if (error instanceof ModelError) throw error;
    throw new ModelError(
      name,
      `a trial run fails (${reasonOf(error)})`,
      `it must run on any batch of up to ${longest} tokens each`,
    );
  }
}

function observe(batch: number, steps: number, vocabulary: number): Observations {
  return { batch, steps, data: Int32Array.from({ length: batch * steps }, (_, index) => index % vocabulary) };
}

async function checkLogits(policy: Policy, observations: Observations, trial: Trial): Promise<void> {
  const logits = await policy.forward(observations);
  const [values] = await trial.kernels.read(logits);
  trial.kernels.release(logits);
  const wrong = values!.find((value) => Number.isNaN(value) || value === Number.POSITIVE_INFINITY);
  if (wrong === undefined) return;
  const where = `${observations.batch} x ${observations.steps} tokens`;
  throw new ModelError(trial.name, `on ${where} it gives a logit of ${wrong}`, 'logits must be numbers');
}

async function checkGradients(policy: Policy, observations: Observations, trial: Trial): Promise<void> {
  const { kernels } = trial;
  const rows = observations.batch * observations.steps;
  const zeros = kernels.tensor(new Float32Array(rows * policy.nActions), [rows, policy.nActions], 'trial');
  const gradients = await policy.backward(observations, zeros);
  const values = await kernels.read(...gradients);
  kernels.release(zeros, ...gradients);
  const index = values.findIndex((gradient) => !gradient.every(Number.isFinite));
  if (index < 0) return;
  throw new ModelError(
    trial.name,
    `the gradient of weight "${policy.parameters[index]!.name}" is not finite where that of the logits is 0`,
    'its operators must be differentiable at its weights',
  );
}
