/** Compares two inference engines on one model: the check that a GPU computes what the CPU does. */

import type { Kernels, Tensor } from '../kernels/kernels.ts';
import type { ModelRuntime } from './modelRuntime.ts';
import { OnnxPolicy } from './onnxPolicy.ts';
import type { Observations } from './policy.ts';

/** A runtime and the kernels that its tensors come from. */
export interface Provider {
  readonly runtime: ModelRuntime;
  readonly kernels: Kernels;
}

export interface ParityReport {
  /** Largest |difference| of a logit. */
  readonly logits: number;
  /** Largest |difference| of a parameter's gradient, and the parameter's name. */
  readonly gradient: number;
  readonly parameter: string;
}

/**
 * Loads `bytes` with both providers and compares logits on `observations` and the gradients of the objective of one agent
 * update: mean log-likelihood of the actions (token + 1 modulo V), a stand-in for advantages of 1. Differences are
 * Infinity where a number is not finite.
 */
export async function compareProviders(
  bytes: Uint8Array,
  observations: Observations,
  reference: Provider,
  candidate: Provider,
): Promise<ParityReport> {
  const expected = await evaluate(bytes, observations, reference);
  const actual = await evaluate(bytes, observations, candidate);
  const gradients = expected.gradients.map((gradient, index) =>
    maxDifference(gradient, actual.gradients[index]!),
  );
  const gradient = Math.max(...gradients);
  return {
    logits: maxDifference(expected.logits, actual.logits),
    gradient,
    parameter: expected.names[gradients.indexOf(gradient)]!,
  };
}

interface Evaluation {
  readonly names: readonly string[];
  readonly logits: Float64Array;
  readonly gradients: readonly Float64Array[];
}

async function evaluate(
  bytes: Uint8Array,
  observations: Observations,
  { runtime, kernels }: Provider,
): Promise<Evaluation> {
  const policy = await OnnxPolicy.load({
    name: `parity (${runtime.provider})`,
    bytes,
    runtime,
    kernels,
    trusted: true,
  });
  const logits = await policy.forward(observations);
  const dlogits = cotangent(kernels, logits, observations);
  const gradients = await policy.backward(observations, dlogits);
  const [values, ...rest] = await kernels.read(logits, ...gradients);
  kernels.release(logits, dlogits, ...gradients);
  await policy.dispose();
  return { names: policy.parameters.map(({ name }) => name), logits: values!, gradients: rest };
}

/** Gradient of the mean log-likelihood, by the clipped objective at ratio 1 with advantage 1 and one-step sequences. */
function cotangent(kernels: Kernels, logits: Tensor, { data }: Observations): Tensor {
  const [rows = 0, vocabulary = 1] = logits.shape;
  const int32 = (values: Int32Array, label: string) => kernels.tensor(values, [rows], label);
  const actions = int32(
    data.map((token) => (token + 1) % vocabulary),
    'actions',
  );
  const active = int32(new Int32Array(rows).fill(1), 'active');
  const advantages = kernels.tensor(new Float32Array(rows).fill(1), [rows], 'advantages');
  const klWeight = kernels.tensor(new Float32Array(rows), [rows], 'KL weights');
  const { dlogits, ...others } = kernels.clippedObjective({
    batch: rows,
    steps: 1,
    logitsTar: logits,
    logitsCur: logits,
    actions,
    active,
    advantages,
    klWeight,
    epsLow: 0.2,
    epsHigh: 0.2,
    beta: 0,
    temperature: 1,
  });
  kernels.release(actions, active, advantages, klWeight, ...Object.values(others));
  return dlogits;
}

function maxDifference(expected: Float64Array, actual: Float64Array): number {
  const differences = expected.map((value, index) => Math.abs(value - actual[index]!));
  return differences.every(Number.isFinite) ? Math.max(0, ...differences) : Number.POSITIVE_INFINITY;
}
