import { Rng } from '../../kernels/rng.ts';
import { float, GraphBuilder } from './builder.ts';
import { floatTensor, type Graph, int32Tensor, sizeOf, type TensorValue, type ValueInfo } from './ir.ts';
import { writeModel } from './onnxFile.ts';

export interface TransformerShape {
  /** V >= 1 tokens. */
  readonly vocabulary: number;
  /** D >= 1, a multiple of `heads`. */
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  /** Rows of `pos_emb`: the longest sequence. */
  readonly context: number;
}

/** Weights by name, in the order of `parameterShapes`. */
export type Weights = ReadonlyMap<string, TensorValue>;

/** The first opset with Gelu. */
const OPSET = 20;
const EPSILON = 1e-5;
/** Added to attention scores of later positions: exp underflows to exactly 0 in float32. */
const MASKED = -1e9;

/**
 * Names and dimensions of the parameters of a transformer, in order. Weights are [in][out]. With one layer the names
 * are those of test/golden/README.md (`wq`, `ln1_g`, ...); with more, `layers.N.` precedes those of block N.
 */
export function parameterShapes(shape: TransformerShape): Map<string, readonly number[]> {
  const { vocabulary, width: d, layers, context } = shape;
  const shapes = new Map<string, readonly number[]>([
    ['tok_emb', [vocabulary, d]],
    ['pos_emb', [context, d]],
  ]);
  for (let layer = 0; layer < layers; layer++) {
    const p = layerPrefix(shape, layer);
    for (const name of ['ln1_g', 'ln1_b']) shapes.set(p + name, [d]);
    for (const name of ['q', 'k', 'v', 'o']) shapes.set(`${p}w${name}`, [d, d]).set(`${p}b${name}`, [d]);
    for (const name of ['ln2_g', 'ln2_b']) shapes.set(p + name, [d]);
    shapes
      .set(`${p}w1`, [d, 4 * d])
      .set(`${p}b1`, [4 * d])
      .set(`${p}w2`, [4 * d, d])
      .set(`${p}b2`, [d]);
  }
  return shapes.set('lnf_g', [d]).set('lnf_b', [d]).set('head', [d, vocabulary]);
}

function layerPrefix(shape: TransformerShape, layer: number): string {
  return shape.layers === 1 ? '' : `layers.${layer}.`;
}

export interface TransformerOptions extends TransformerShape {
  readonly seed: number;
  /** Index of the agent, so that the agents of one team start from different weights. Default 0. */
  readonly agent?: number;
}

/** A freshly initialised transformer as an ONNX file; the same options give the same bytes. */
export function buildTransformer(options: TransformerOptions): Uint8Array {
  const { seed, agent = 0, ...shape } = options;
  return writeModel(transformerGraph(shape, initialWeights(shape, seed, agent)));
}

/** Standard deviation of both embeddings. */
const EMBEDDING_DEVIATION = 0.1;
/** Matrices have this over sqrt(fan-in). */
const MATRIX_GAIN = 0.5;
/** Small, so that a new model starts near the uniform policy. */
const HEAD_DEVIATION = 0.02;

/**
 * Seeded initial weights, one random stream a tensor, normal with the deviations above; the two projections that write
 * into the residual stream (`wo`, `w2`) are smaller by sqrt(2 layers), so that its variance does not grow with depth
 * (Radford et al., "Language models are unsupervised multitask learners", 2019, section 2.3). Layer-norm gains are 1, all
 * biases 0. A flat 0.02, usual for wide models, leaves ours (width 32) on a plateau several times as long.
 */
export function initialWeights(shape: TransformerShape, seed: number, agent: number): Weights {
  checkShape(shape);
  const weights = new Map<string, TensorValue>();
  for (const [name, dims] of parameterShapes(shape)) {
    const rng = Rng.of(seed, 'init', agent, weights.size);
    const deviation = initialDeviation(name, dims, shape.layers);
    const draw = () => (dims.length === 2 ? deviation * rng.normal() : name.endsWith('_g') ? 1 : 0);
    weights.set(name, floatTensor(Array.from({ length: sizeOf(dims) }, draw), dims));
  }
  return weights;
}

function initialDeviation(name: string, dims: readonly number[], layers: number): number {
  if (name.endsWith('_emb')) return EMBEDDING_DEVIATION;
  if (name === 'head') return HEAD_DEVIATION;
  const writesResidual = /(^|\.)(wo|w2)$/.test(name);
  return MATRIX_GAIN / Math.sqrt(dims[0]! * (writesResidual ? 2 * layers : 1));
}

/**
 * A decoder-only pre-LN transformer as an ONNX graph: exactly the model of test/golden/README.md, transformer.json,
 * with any number of layers. Input `input_ids` [batch, sequence] int32 (int64 has no WebGPU kernels); outputs `logits`
 * [batch, sequence, V] and `present.N.key`, `present.N.value` [batch, heads, sequence, D / heads]. All activations
 * between attention heads are [batch * sequence, D], so that every linear layer is one Gemm.
 *
 * Throws a RangeError for a shape that does not fit together or weights that do not match it.
 */
export function transformerGraph(shape: TransformerShape, weights: Weights): Graph {
  checkShape(shape);
  checkWeights(shape, weights);
  const builder = new GraphBuilder('');
  for (const [name, value] of weights) builder.initializers.set(name, value);
  const frame = makeFrame(builder, shape);
  let x = embed(builder, frame);
  for (let layer = 0; layer < shape.layers; layer++) {
    const p = layerPrefix(shape, layer);
    x = builder.emit('Add', [x, attention(builder, frame, x, layer, p)]);
    x = builder.emit('Add', [x, feedForward(builder, x, p)]);
  }
  const rows = builder.emit('Gemm', [layerNorm(builder, x, 'lnf'), 'head']);
  const dims = builder.emit('Concat', [frame.shape, builder.ints([shape.vocabulary])], { axis: 0 });
  builder.emit('Reshape', [rows, dims], {}, 'logits');
  return {
    name: 'transformer',
    opsets: new Map([['', OPSET]]),
    nodes: builder.nodes,
    inputs: [{ name: 'input_ids', type: 'int32', shape: ['batch', 'sequence'] }],
    outputs: outputsOf(shape),
    initializers: builder.initializers,
  };
}

function outputsOf(shape: TransformerShape): ValueInfo[] {
  const cache = ['batch', shape.heads, 'sequence', shape.width / shape.heads];
  const present = Array.from({ length: shape.layers }, (_, layer) =>
    ['key', 'value'].map(
      (part): ValueInfo => ({ name: `present.${layer}.${part}`, type: 'float32', shape: cache }),
    ),
  );
  return [
    { name: 'logits', type: 'float32', shape: ['batch', 'sequence', shape.vocabulary] },
    ...present.flat(),
  ];
}

/** Values that every block shares. */
interface Frame {
  readonly transformer: TransformerShape;
  /** int64 [2]: batch, sequence. */
  readonly shape: string;
  /** int64 [1]: sequence. */
  readonly length: string;
  /** int64 [4]: batch, sequence, heads, D / heads. */
  readonly headShape: string;
  /** float [sequence, sequence]: 0 up to the own position, `MASKED` after it. */
  readonly mask: string;
}

function makeFrame(b: GraphBuilder, transformer: TransformerShape): Frame {
  const { width, heads, context } = transformer;
  const shape = b.emit('Shape', ['input_ids']);
  const length = b.emit('Slice', [shape, b.ints([1]), b.ints([2]), b.ints([0])]);
  const headShape = b.emit('Concat', [shape, b.ints([heads, width / heads])], { axis: 0 });
  const positions = Array.from({ length: context }, (_, position) => position);
  const all = b.emit('Constant', [], { value: { kind: 'tensor', value: int32Tensor(positions, [context]) } });
  const columns = b.emit('Slice', [all, b.ints([0]), length, b.ints([0])]);
  const rows = b.emit('Unsqueeze', [columns, b.ints([1])]);
  const later = b.emit('Less', [rows, columns]);
  const mask = b.emit('Where', [later, b.float(MASKED), b.float(0)]);
  return { transformer, shape, length, headShape, mask };
}

/** x [batch * sequence, D] = tok_emb[token] + pos_emb[t]. */
function embed(b: GraphBuilder, frame: Frame): string {
  const tokens = b.emit('Gather', ['tok_emb', 'input_ids'], { axis: 0 });
  const positions = b.emit('Slice', ['pos_emb', b.ints([0]), frame.length, b.ints([0])]);
  const sum = b.emit('Add', [tokens, positions]);
  return b.emit('Reshape', [sum, b.ints([-1, frame.transformer.width])]);
}

function layerNorm(b: GraphBuilder, x: string, name: string): string {
  return b.emit('LayerNormalization', [x, `${name}_g`, `${name}_b`], { axis: -1, epsilon: float(EPSILON) });
}

/** Causal multi-head attention on LN1(x); also emits this layer's present key and value. */
function attention(b: GraphBuilder, frame: Frame, x: string, layer: number, p: string): string {
  const { width, heads } = frame.transformer;
  const y = layerNorm(b, x, `${p}ln1`);
  const split = (part: string, output?: string) => {
    const rows = b.emit('Gemm', [y, `${p}w${part}`, `${p}b${part}`]);
    const cut = b.emit('Reshape', [rows, frame.headShape]);
    return b.emit('Transpose', [cut], { perm: [0, 2, 1, 3] }, output);
  };
  const query = split('q');
  const key = split('k', `present.${layer}.key`);
  const value = split('v', `present.${layer}.value`);
  const scaled = b.emit('Mul', [query, b.float(1 / Math.sqrt(width / heads))]);
  const scores = b.emit('MatMul', [scaled, b.emit('Transpose', [key], { perm: [0, 1, 3, 2] })]);
  const weights = b.emit('Softmax', [b.emit('Add', [scores, frame.mask])], { axis: -1 });
  const mixed = b.emit('Transpose', [b.emit('MatMul', [weights, value])], { perm: [0, 2, 1, 3] });
  const rows = b.emit('Reshape', [mixed, b.ints([-1, width])]);
  return b.emit('Gemm', [rows, `${p}wo`, `${p}bo`]);
}

/** Two linear layers with GELU in its tanh form between them. */
function feedForward(b: GraphBuilder, x: string, p: string): string {
  const hidden = b.emit('Gemm', [layerNorm(b, x, `${p}ln2`), `${p}w1`, `${p}b1`]);
  const active = b.emit('Gelu', [hidden], { approximate: 'tanh' });
  return b.emit('Gemm', [active, `${p}w2`, `${p}b2`]);
}

function checkShape(shape: TransformerShape): void {
  for (const [field, value] of Object.entries(shape)) {
    if (!Number.isInteger(value) || value < 1) {
      throw new RangeError(`transformer ${field}: got ${value}, expected an integer >= 1`);
    }
  }
  if (shape.width % shape.heads !== 0) {
    throw new RangeError(
      `transformer heads: got ${shape.heads} for width ${shape.width}, expected a divisor of the width`,
    );
  }
}

function checkWeights(shape: TransformerShape, weights: Weights): void {
  const expected = parameterShapes(shape);
  for (const [name, dims] of expected) {
    const given = weights.get(name)?.dims;
    if (given?.join() !== dims.join()) {
      throw new RangeError(`transformer weight ${name}: got [${given ?? 'nothing'}], expected [${dims}]`);
    }
  }
  if (weights.size !== expected.size) {
    throw new RangeError(`transformer weights: got ${weights.size} tensors, expected ${expected.size}`);
  }
}
