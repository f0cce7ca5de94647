/** Runs the transformer's cases of the golden files (formats: test/golden/README.md). */

import type { Kernels } from '../kernels/kernels.ts';
import { type GoldenRecord, type GoldenValue, goldenArray, goldenNumber, nested } from '../runs/golden.ts';
import { type TransformerShape, transformerGraph, type Weights } from './graph/buildTransformer.ts';
import { floatTensor } from './graph/ir.ts';
import { writeModel } from './graph/onnxFile.ts';
import type { ModelRuntime } from './modelRuntime.ts';
import { OnnxPolicy } from './onnxPolicy.ts';
import type { Observations } from './policy.ts';

/**
 * Builds the case's model and computes `logits`, `present_key`, `present_value` and `param_grads` with `runtime`, as nested
 * arrays. Throws where an input is missing or malformed.
 */
export async function runTransformerCase(
  input: GoldenRecord,
  runtime: ModelRuntime,
  kernels: Kernels,
): Promise<GoldenRecord> {
  const weights = weightsOf(input);
  const shape = shapeOf(input, weights);
  const bytes = writeModel(transformerGraph(shape, weights));
  const tokens = goldenArray(input.tokens, 'tokens');
  const [batch = 0, steps = 0] = tokens.shape;
  const observations = { batch, steps, data: Int32Array.from(tokens.data) };
  const dlogits = goldenArray(input.dlogits, 'dlogits').data;
  const present = await presentOf(bytes, observations, runtime);
  const policy = await OnnxPolicy.load({
    name: 'golden transformer',
    bytes,
    runtime,
    kernels,
    trusted: true,
  });
  const results = await logitsAndGradients(policy, observations, Float32Array.from(dlogits), kernels);
  await policy.dispose();
  return { ...present, ...results };
}

function weightsOf(input: GoldenRecord): Weights {
  const params = input.params;
  if (typeof params !== 'object' || Array.isArray(params)) {
    throw new TypeError(`params: expected named arrays, got ${JSON.stringify(params)}`);
  }
  return new Map(
    Object.entries(params).map(([name, value]) => {
      const { data, shape } = goldenArray(value, name);
      return [name, floatTensor(data, shape)];
    }),
  );
}

function shapeOf(input: GoldenRecord, weights: Weights): TransformerShape {
  const [vocabulary = 0, width = 0] = weights.get('tok_emb')?.dims ?? [];
  const [context = 0] = weights.get('pos_emb')?.dims ?? [];
  return { vocabulary, width, context, layers: 1, heads: goldenNumber(input.n_heads, 'n_heads') };
}

async function presentOf(
  bytes: Uint8Array,
  { batch, steps, data }: Observations,
  runtime: ModelRuntime,
): Promise<GoldenRecord> {
  const session = await runtime.createSession(bytes, {
    label: 'golden transformer (cache)',
    outputs: ['present.0.key', 'present.0.value'],
    outputLocation: 'host',
  });
  const outputs = await session.run({ input_ids: { location: 'host', data, dims: [batch, steps] } });
  await session.release();
  const asNested = (name: string): GoldenValue => {
    const output = outputs[name];
    if (output?.location !== 'host') throw new Error(`${name}: expected a host array`);
    return nested(output.data, output.dims);
  };
  return { present_key: asNested('present.0.key'), present_value: asNested('present.0.value') };
}

async function logitsAndGradients(
  policy: OnnxPolicy,
  observations: Observations,
  cotangent: Float32Array,
  kernels: Kernels,
): Promise<GoldenRecord> {
  const { batch, steps } = observations;
  const dlogits = kernels.tensor(cotangent, [batch * steps, policy.nActions], 'dlogits');
  const logits = await policy.forward(observations);
  const gradients = await policy.backward(observations, dlogits);
  const [logitValues, ...gradientValues] = await kernels.read(logits, ...gradients);
  const named = policy.parameters.map(({ name, tensor }, index): [string, GoldenValue] => [
    name,
    nested(gradientValues[index]!, tensor.shape),
  ]);
  kernels.release(dlogits, logits, ...gradients);
  return {
    logits: nested(logitValues!, [batch, steps, policy.nActions]),
    param_grads: Object.fromEntries(named),
  };
}
