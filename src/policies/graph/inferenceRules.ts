/** Static shape inference of single operators; `shapes.ts` applies it to a graph. */

import { broadcast, normaliseAxis, productOf, quotientOf, type Shape, sliceDim } from './dims.ts';
import { type Dim, type GraphNode, intAttribute, intsAttribute } from './ir.ts';

/** What an inference rule sees of one node. */
interface Site {
  readonly node: GraphNode;
  shape(input: number): Shape | undefined;
  content(input: number): Shape | undefined;
  /** Content of an input that is all numbers. */
  ints(input: number): number[] | undefined;
  /** A dimension that equals no other. */
  fresh(): string;
}

interface Inferred {
  readonly shapes: readonly (Shape | undefined)[];
  readonly content?: Shape | undefined;
}

type InferenceRule = (site: Site) => Inferred;

/** The axes that a reduction, Squeeze or Unsqueeze names, by attribute or by constant input 1. */
export function namedAxes(node: GraphNode, input: number[] | undefined): number[] | undefined {
  const attribute = intsAttribute(node, 'axes');
  return attribute ? [...attribute] : input;
}

const same: InferenceRule = (site) => ({ shapes: [site.shape(0)] });

/** An operator along one axis, which its rule leaves as it is. */
const alongAxis: InferenceRule = (site) => {
  const x = site.shape(0);
  if (x) normaliseAxis(intAttribute(site.node, 'axis', -1), x.length);
  return { shapes: [x] };
};

const sameContent: InferenceRule = (site) => ({ shapes: [site.shape(0)], content: site.content(0) });

/** TensorProto numbers of int32 and int64: the contents of other types are not tracked. */
const INTEGER_TYPES = [6, 7];

const broadcastAll: InferenceRule = (site) => {
  const shapes = site.node.inputs.map((_, index) => site.shape(index));
  return { shapes: [broadcast(shapes, site.fresh)] };
};

const matmul: InferenceRule = (site) => {
  const [a, b] = [site.shape(0), site.shape(1)];
  if (!a || !b || a.length < 2 || b.length < 2) return { shapes: [] };
  const batch = broadcast([a.slice(0, -2), b.slice(0, -2)], site.fresh)!;
  return { shapes: [[...batch, a.at(-2)!, b.at(-1)!]] };
};

const gemm: InferenceRule = (site) => {
  const [a, b] = [site.shape(0), site.shape(1)];
  if (a?.length !== 2 || b?.length !== 2) return { shapes: [] };
  const rows = a[intAttribute(site.node, 'transA', 0)]!;
  const columns = b[1 - intAttribute(site.node, 'transB', 0)]!;
  return { shapes: [[rows, columns]] };
};

const reduce: InferenceRule = (site) => {
  const x = site.shape(0);
  const named = namedAxes(site.node, site.node.inputs[1] ? site.ints(1) : []);
  if (!x || !named) return { shapes: [] };
  const noop = intAttribute(site.node, 'noop_with_empty_axes', 0) === 1;
  if (named.length === 0 && noop) return { shapes: [x] };
  const axes = named.map((axis) => normaliseAxis(axis, x.length));
  const isReduced = (axis: number) => axes.length === 0 || axes.includes(axis);
  return intAttribute(site.node, 'keepdims', 1) === 1
    ? { shapes: [x.map((dim, axis) => (isReduced(axis) ? 1 : dim))] }
    : { shapes: [x.filter((_, axis) => !isReduced(axis))] };
};

const reshape: InferenceRule = (site) => {
  const x = site.shape(0);
  const target = site.content(1);
  if (!target) {
    const length = site.shape(1)?.[0];
    return { shapes: [typeof length === 'number' ? Array.from({ length }, site.fresh) : undefined] };
  }
  const copies = intAttribute(site.node, 'allowzero', 0) === 0;
  const dims = target.map((dim, axis) => (dim === 0 && copies ? (x?.[axis] ?? site.fresh()) : dim));
  const others = dims.filter((dim) => dim !== -1);
  const rest = () => (x ? quotientOf(x, others, site.fresh) : site.fresh());
  return { shapes: [dims.map((dim) => (dim === -1 ? rest() : dim))] };
};

const transpose: InferenceRule = (site) => {
  const x = site.shape(0);
  if (!x) return { shapes: [] };
  const perm = intsAttribute(site.node, 'perm') ?? x.map((_, axis) => x.length - 1 - axis);
  if (perm.length !== x.length) throw new RangeError(`perm [${perm}] on a tensor of rank ${x.length}`);
  return { shapes: [perm.map((axis) => x[axis]!)] };
};

const unsqueeze: InferenceRule = (site) => {
  const x = site.shape(0);
  const named = namedAxes(site.node, site.ints(1));
  if (!x || !named) return { shapes: [] };
  const rank = x.length + named.length;
  const axes = named.map((axis) => normaliseAxis(axis, rank));
  const rest = [...x];
  const dims = Array.from({ length: rank }, (_, axis): Dim => (axes.includes(axis) ? 1 : rest.shift()!));
  return { shapes: [dims], content: site.content(0) };
};

const squeeze: InferenceRule = (site) => {
  const x = site.shape(0);
  const named = namedAxes(site.node, site.ints(1));
  if (!x || (!named && x.some((dim) => typeof dim === 'string'))) return { shapes: [] };
  const axes = named?.map((axis) => normaliseAxis(axis, x.length));
  const kept = x.filter((dim, axis) => (axes ? !axes.includes(axis) : dim !== 1));
  return { shapes: [kept], content: site.content(0) };
};

const concat: InferenceRule = (site) => {
  const inputs = site.node.inputs.map((_, index) => site.shape(index));
  const contents = site.node.inputs.map((_, index) => site.content(index));
  const content = contents.every((c) => c !== undefined) ? contents.flat() : undefined;
  const first = inputs[0];
  if (!first || inputs.some((shape) => !shape)) return { shapes: [], content };
  const axis = normaliseAxis(intAttribute(site.node, 'axis', 0), first.length);
  const along = inputs.map((shape) => shape![axis]!);
  const total = along.every((dim) => typeof dim === 'number')
    ? along.reduce<number>((sum, dim) => sum + Number(dim), 0)
    : site.fresh();
  return { shapes: [first.map((dim, index) => (index === axis ? total : dim))], content };
};

const split: InferenceRule = (site) => {
  const x = site.shape(0);
  if (!x) return { shapes: [] };
  const axis = normaliseAxis(intAttribute(site.node, 'axis', 0), x.length);
  const sizes = site.ints(1);
  const count = site.node.outputs.length;
  const along = x[axis]!;
  const equal = typeof along === 'number' && along % count === 0 ? along / count : undefined;
  return {
    shapes: site.node.outputs.map((_, output) =>
      x.map((dim, index) => (index === axis ? (sizes?.[output] ?? equal ?? site.fresh()) : dim)),
    ),
  };
};

const slice: InferenceRule = (site) => {
  const x = site.shape(0);
  if (!x) return { shapes: [] };
  const [starts, ends] = [site.content(1), site.content(2)];
  const axes = (site.node.inputs[3] ? site.ints(3) : starts?.map((_, axis) => axis))?.map((axis) =>
    normaliseAxis(axis, x.length),
  );
  if (!starts || !ends || !axes) return { shapes: [x.map(() => site.fresh())] };
  if (starts.length !== axes.length || ends.length !== axes.length) {
    throw new RangeError(
      `it slices axes [${axes}] from [${starts}] to [${ends}]: one of each is needed per axis`,
    );
  }
  const steps = site.node.inputs[4] ? site.ints(4) : starts.map(() => 1);
  const dims = [...x];
  axes.forEach((axis, index) => {
    dims[axis] = sliceDim(x[axis]!, starts[index]!, ends[index]!, steps?.[index], site.fresh);
  });
  const content = site.content(0);
  const [start, end] = [starts[0], ends[0]];
  const known = typeof start === 'number' && typeof end === 'number' && steps?.[0] === 1;
  return { shapes: [dims], content: known ? content?.slice(start, end) : undefined };
};

const gather: InferenceRule = (site) => {
  const [data, indices] = [site.shape(0), site.shape(1)];
  if (!data || !indices) return { shapes: [] };
  const axis = normaliseAxis(intAttribute(site.node, 'axis', 0), data.length);
  const dims = [...data.slice(0, axis), ...indices, ...data.slice(axis + 1)];
  const picked = site.ints(1)?.map((index) => site.content(0)?.at(index));
  const content = picked?.every((dim) => dim !== undefined) ? picked : undefined;
  return { shapes: [dims], content };
};

const range: InferenceRule = (site) => {
  const [start, limit, delta] = [site.content(0)?.[0], site.content(1)?.[0], site.content(2)?.[0]];
  if (start === 0 && delta === 1 && limit !== undefined) return { shapes: [[limit]] };
  return { shapes: [[site.fresh()]] };
};

/** Integer arithmetic on shapes; the shape of the result is the broadcast one. */
function arithmetic(combine: (a: Dim, b: Dim, fresh: () => string) => Dim): InferenceRule {
  return (site) => {
    const [a, b] = [site.content(0), site.content(1)];
    const content = a?.map((dim, index) => combine(dim, b?.[index] ?? b?.[0] ?? site.fresh(), site.fresh));
    return { ...broadcastAll(site), content: a && b && a.length >= b.length ? content : undefined };
  };
}

const onNumbers = (f: (a: number, b: number) => number) =>
  arithmetic((a, b, fresh) => (typeof a === 'number' && typeof b === 'number' ? f(a, b) : fresh()));

const byContent =
  (input: number): InferenceRule =>
  (site) => ({ shapes: [site.content(input)] });

const SAME_SHAPE = [
  ...['Abs', 'Clip', 'Cos', 'CumSum', 'Dropout', 'Erf', 'Exp', 'Floor', 'Gelu', 'IsNaN'],
  ...['Log', 'Neg', 'Not', 'Reciprocal', 'Relu', 'Sigmoid', 'Sign', 'Sin', 'Sqrt', 'Tanh', 'Trilu'],
];
const BROADCASTING = [
  ...['And', 'Equal', 'Greater', 'GreaterOrEqual', 'Less', 'LessOrEqual', 'Max', 'Min', 'Mod', 'Or', 'Pow'],
  ...['Where', 'Xor'],
];

const TABLE: Readonly<Record<string, InferenceRule>> = {
  ...Object.fromEntries(SAME_SHAPE.map((op) => [op, same])),
  ...Object.fromEntries(BROADCASTING.map((op) => [op, broadcastAll])),
  LayerNormalization: alongAxis,
  LogSoftmax: alongAxis,
  Softmax: alongAxis,
  Identity: sameContent,
  Cast: (site) => (INTEGER_TYPES.includes(intAttribute(site.node, 'to', 0)) ? sameContent : same)(site),
  Add: onNumbers((a, b) => a + b),
  Sub: onNumbers((a, b) => a - b),
  Div: onNumbers((a, b) => Math.trunc(a / b)),
  Mul: arithmetic((a, b) => productOf([a, b])),
  MatMul: matmul,
  Gemm: gemm,
  ReduceSum: reduce,
  ReduceMean: reduce,
  ReduceMax: reduce,
  ReduceMin: reduce,
  ReduceProd: reduce,
  Reshape: reshape,
  Transpose: transpose,
  Unsqueeze: unsqueeze,
  Squeeze: squeeze,
  Concat: concat,
  Split: split,
  Slice: slice,
  Gather: gather,
  Range: range,
  Expand: (site) => ({ shapes: [broadcast([site.shape(0), site.content(1)], site.fresh)] }),
  ConstantOfShape: byContent(0),
  Shape: (site) => {
    const x = site.shape(0);
    const [start, end] = [
      intAttribute(site.node, 'start', 0),
      intAttribute(site.node, 'end', x?.length ?? 0),
    ];
    const content = x?.slice(start, end);
    return { shapes: [content && [content.length]], content };
  },
  Size: (site) => ({ shapes: [[]], content: site.shape(0) && [productOf(site.shape(0)!)] }),
};

/** How the shapes of the outputs of each operator follow from those of its inputs. */
export const INFERENCE_RULES: ReadonlyMap<string, InferenceRule> = new Map(Object.entries(TABLE));
