import type { Kernels, Tensor } from '../kernels/kernels.ts';
import { floatsOf, type Graph } from './graph/ir.ts';
import { readModel, writeModel } from './graph/onnxFile.ts';
import { checkGraph, malformed } from './graph/validate.ts';
import { deriveVjp, gradientName } from './graph/vjp.ts';
import { ModelError, reasonOf } from './modelError.ts';
import type { HostTensor, ModelRuntime, ModelSession, ModelTensor } from './modelRuntime.ts';
import { tryOut } from './modelTrial.ts';
import { type ModelInterface, readInterface } from './onnxInterface.ts';
import type { Observations, Parameter, Policy } from './policy.ts';
import { type Outgoing, TensorBridge } from './tensorBridge.ts';

const COTANGENT = 'dlogits';

export interface OnnxPolicySource {
  /** File or display name, for error messages. */
  readonly name: string;
  /** The .onnx file. */
  readonly bytes: Uint8Array;
  readonly runtime: ModelRuntime;
  readonly kernels: Kernels;
  /** What the task needs V to be; any if absent. */
  readonly vocabulary?: number;
  /** Longest sequence that the task observes, which the model must accept; default 3. */
  readonly longest?: number;
  /** True for a model that this program built, which needs no trial run. Default false. */
  readonly trusted?: boolean;
}

/**
 * A causal language model from an ONNX file as a policy over its vocabulary. The file's float weights become float32
 * tensors of the kernels backend; two sessions, the forward graph and its derived VJP graph, take them as inputs.
 */
export class OnnxPolicy implements Policy {
  readonly kind = 'onnx';
  readonly nActions: number;
  readonly parameterCount: number;

  private constructor(
    private readonly model: ModelInterface,
    private readonly kernels: Kernels,
    private readonly bridge: TensorBridge,
    readonly parameters: readonly Parameter[],
    private readonly forwardSession: ModelSession,
    private readonly backwardSession: ModelSession,
  ) {
    this.nActions = model.vocabulary;
    this.parameterCount = parameters.reduce((sum, parameter) => sum + parameter.tensor.size, 0);
  }

  /**
   * Reads, checks and differentiates the model, starts its sessions and tries them. Throws `ModelError` for a file that
   * is not a whole model, a malformed graph, an interface that does not fit a policy, an operator that cannot be
   * differentiated, and a trial run that fails.
   */
  static async load(source: OnnxPolicySource): Promise<OnnxPolicy> {
    const { name, runtime, kernels } = source;
    const { model, vjp } = derive(source);
    const names = [...model.weights.keys()];
    const bridge = new TensorBridge(kernels, runtime);
    const start = (graph: Graph, outputs: readonly string[], pass: string) =>
      startSession(graph, outputs, `${name} (${pass})`, runtime, bridge);
    const forward = await start(model.graph, ['logits'], 'forward');
    const backward = await start(vjp, names.map(gradientName), 'backward').catch(async (error: unknown) => {
      await forward.release();
      throw error;
    });
    const parameters = [...model.weights].map(([key, value]) => ({
      name: key,
      tensor: kernels.tensor(floatsOf(value), value.dims, `${name}/${key}`),
    }));
    const policy = new OnnxPolicy(model, kernels, bridge, parameters, forward, backward);
    if (source.trusted !== true) await tryOut(policy, source);
    return policy;
  }

  async forward(observations: Observations): Promise<Tensor> {
    const { batch, steps } = observations;
    const { logits } = await this.forwardSession.run(await this.feeds(observations));
    const { nActions } = this;
    return this.bridge.fromModel(logits!, 'logits', [batch, steps, nActions], [batch * steps, nActions]);
  }

  async backward(observations: Observations, dlogits: Tensor): Promise<Tensor[]> {
    const { batch, steps } = observations;
    const rows = batch * steps;
    if (dlogits.size !== rows * this.nActions) {
      throw new RangeError(
        `backward: dlogits are [${dlogits.shape}], expected [${rows}, ${this.nActions}] for batch ${batch}, steps ${steps}`,
      );
    }
    const cotangent = { name: COTANGENT, tensor: dlogits, dims: [batch, steps, this.nActions] };
    const gradients = await this.backwardSession.run(await this.feeds(observations, cotangent));
    return this.parameters.map(({ name, tensor }) =>
      this.bridge.fromModel(gradients[gradientName(name)]!, gradientName(name), tensor.shape),
    );
  }

  async dispose(): Promise<void> {
    await this.forwardSession.release();
    await this.backwardSession.release();
    this.kernels.release(...this.parameters.map((parameter) => parameter.tensor));
  }

  /** Tokens, weights and, for the VJP, the cotangent. */
  private async feeds(
    observations: Observations,
    ...extra: readonly (Outgoing & { readonly name: string })[]
  ): Promise<Record<string, ModelTensor>> {
    const outgoing = [
      ...this.parameters.map(({ name, tensor }) => ({ name, tensor, dims: tensor.shape })),
      ...extra,
    ];
    const tensors = await this.bridge.toModel(outgoing);
    return {
      ...this.tokenFeeds(observations),
      ...Object.fromEntries(outgoing.map(({ name }, index) => [name, tensors[index]!])),
    };
  }

  private tokenFeeds({ batch, steps, data }: Observations): Record<string, HostTensor> {
    const size = batch * steps;
    if (data.length !== size) {
      throw new RangeError(`observations: ${data.length} tokens, expected ${batch} x ${steps} = ${size}`);
    }
    const wrong = data.find((token) => token < 0 || token >= this.nActions);
    if (wrong !== undefined) {
      throw new RangeError(`observations: token ${wrong}, expected 0 to ${this.nActions - 1}`);
    }
    const values = {
      input_ids: () => data,
      attention_mask: () => new Int32Array(size).fill(1),
      position_ids: () => Int32Array.from(data, (_, index) => index % steps),
    };
    return Object.fromEntries(
      this.model.tokenInputs.map(({ name, type }) => {
        const numbers = values[name]();
        const typed = type === 'int32' ? numbers : BigInt64Array.from(numbers, BigInt);
        return [name, { location: 'host', data: typed, dims: [batch, steps] }];
      }),
    );
  }
}

/** The checked model and its VJP graph. Whatever goes wrong is a `ModelError`: the file is not ours. */
function derive(source: OnnxPolicySource): { model: ModelInterface; vjp: Graph } {
  const { name } = source;
  try {
    const model = readInterface(readModel(source.bytes, name), name);
    checkVocabulary(model, source);
    checkGraph(model.graph, name);
    const parameters = [...model.weights.keys()];
    const options = { model: name, parameters, output: 'logits', cotangent: COTANGENT };
    return { model, vjp: deriveVjp(model.graph, options) };
  } catch (error) {
    if (error instanceof ModelError || !(error instanceof Error)) throw error;
    throw malformed(name, reasonOf(error), 'check it with onnx.checker');
  }
}

function checkVocabulary(model: ModelInterface, { name, vocabulary }: OnnxPolicySource): void {
  if (vocabulary !== undefined && model.vocabulary !== vocabulary) {
    throw new ModelError(
      name,
      `its vocabulary has ${model.vocabulary} tokens`,
      `the task needs exactly ${vocabulary}`,
    );
  }
}

/** Starts a session; what the engine says against the graph becomes a `ModelError`. */
async function startSession(
  graph: Graph,
  outputs: readonly string[],
  label: string,
  runtime: ModelRuntime,
  bridge: TensorBridge,
): Promise<ModelSession> {
  const options = { label, outputs, outputLocation: bridge.outputLocation };
  return runtime.createSession(writeModel(graph), options).catch((cause: unknown) => {
    throw new ModelError(
      label,
      `${runtime.description} refuses it (${reasonOf(cause)})`,
      'check it with onnx.checker',
    );
  });
}
