/**
 * An ONNX graph in memory: what the reader gives, the differentiator transforms and the writer takes. Values are named
 * by strings, as in ONNX; nodes are in topological order.
 */

export type ElementType =
  | 'float32'
  | 'uint8'
  | 'int8'
  | 'uint16'
  | 'int16'
  | 'int32'
  | 'int64'
  | 'bool'
  | 'float16'
  | 'float64'
  | 'uint32'
  | 'uint64';

/** A constant: little-endian bytes, so that int64 and float32 survive a round trip bit for bit. */
export interface TensorValue {
  readonly type: ElementType;
  readonly dims: readonly number[];
  readonly bytes: Uint8Array;
}

export type Attribute =
  | { readonly kind: 'int'; readonly value: number }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'ints'; readonly value: readonly number[] }
  | { readonly kind: 'floats'; readonly value: readonly number[] }
  | { readonly kind: 'strings'; readonly value: readonly string[] }
  | { readonly kind: 'tensor'; readonly value: TensorValue };

export interface GraphNode {
  readonly op: string;
  /** '' is the standard domain ai.onnx. */
  readonly domain: string;
  readonly name: string;
  /** '' marks an omitted optional input. */
  readonly inputs: readonly string[];
  /** '' marks an omitted optional output. */
  readonly outputs: readonly string[];
  readonly attributes: ReadonlyMap<string, Attribute>;
}

/** One dimension: a number, or a symbol; equal symbols are equal dimensions. */
export type Dim = number | string;

export interface ValueInfo {
  readonly name: string;
  readonly type: ElementType;
  /** Undefined: not even the rank is declared. */
  readonly shape: readonly Dim[] | undefined;
}

export interface Graph {
  readonly name: string;
  /** Version of each operator domain; '' is ai.onnx. */
  readonly opsets: ReadonlyMap<string, number>;
  readonly nodes: readonly GraphNode[];
  readonly inputs: readonly ValueInfo[];
  readonly outputs: readonly ValueInfo[];
  readonly initializers: ReadonlyMap<string, TensorValue>;
}

/** Bytes of one element. */
export const ELEMENT_BYTES: Record<ElementType, number> = {
  float32: 4,
  uint8: 1,
  int8: 1,
  uint16: 2,
  int16: 2,
  int32: 4,
  int64: 8,
  bool: 1,
  float16: 2,
  float64: 8,
  uint32: 4,
  uint64: 8,
};

export function sizeOf(dims: readonly number[]): number {
  return dims.reduce((product, dim) => product * dim, 1);
}

export function floatTensor(values: ArrayLike<number>, dims: readonly number[]): TensorValue {
  return { type: 'float32', dims, bytes: new Uint8Array(Float32Array.from(values).buffer) };
}

export function int64Tensor(values: readonly number[], dims: readonly number[]): TensorValue {
  return { type: 'int64', dims, bytes: new Uint8Array(BigInt64Array.from(values, BigInt).buffer) };
}

export function int32Tensor(values: readonly number[], dims: readonly number[]): TensorValue {
  return { type: 'int32', dims, bytes: new Uint8Array(Int32Array.from(values).buffer) };
}

/** The numbers of a float32 tensor, in a fresh array. */
export function floatsOf(tensor: TensorValue): Float32Array {
  if (tensor.type !== 'float32') throw new TypeError(`expected a float32 tensor, got ${tensor.type}`);
  return new Float32Array(tensor.bytes.slice().buffer);
}

/** The numbers of an int32, int64, bool or float32 tensor as doubles; int64 beyond 2^53 is clamped there. */
export function numbersOf(tensor: TensorValue): number[] {
  const buffer = tensor.bytes.slice().buffer;
  switch (tensor.type) {
    case 'int64':
      return Array.from(new BigInt64Array(buffer), clampToSafe);
    case 'int32':
      return Array.from(new Int32Array(buffer));
    case 'bool':
      return Array.from(new Uint8Array(buffer));
    case 'float32':
      return Array.from(new Float32Array(buffer));
    default:
      throw new TypeError(`expected int64, int32, bool or float32, got ${tensor.type}`);
  }
}

function clampToSafe(value: bigint): number {
  const limit = BigInt(Number.MAX_SAFE_INTEGER);
  return Number(value > limit ? limit : value < -limit ? -limit : value);
}

/** The integer attribute `name`, or `fallback`. */
export function intAttribute(node: GraphNode, name: string, fallback: number): number {
  const attribute = node.attributes.get(name);
  return attribute?.kind === 'int' ? attribute.value : fallback;
}

/** The float attribute `name`, or `fallback`. */
export function floatAttribute(node: GraphNode, name: string, fallback: number): number {
  const attribute = node.attributes.get(name);
  return attribute?.kind === 'float' ? attribute.value : fallback;
}

/** The integer-list attribute `name`, if present. */
export function intsAttribute(node: GraphNode, name: string): readonly number[] | undefined {
  const attribute = node.attributes.get(name);
  return attribute?.kind === 'ints' ? attribute.value : undefined;
}

/** The string attribute `name`, or `fallback`. */
export function stringAttribute(node: GraphNode, name: string, fallback: string): string {
  const attribute = node.attributes.get(name);
  return attribute?.kind === 'string' ? attribute.value : fallback;
}

/** The value of a `Constant` node as a tensor; undefined for forms that hold strings. */
function constantValue(node: GraphNode): TensorValue | undefined {
  const [name, attribute] = [...node.attributes].find(([key]) => key.startsWith('value')) ?? [];
  if (!attribute || !name) return undefined;
  switch (attribute.kind) {
    case 'tensor':
      return attribute.value;
    case 'int':
      return int64Tensor([attribute.value], []);
    case 'ints':
      return int64Tensor(attribute.value, [attribute.value.length]);
    case 'float':
      return floatTensor([attribute.value], []);
    case 'floats':
      return floatTensor(attribute.value, [attribute.value.length]);
    default:
      return undefined;
  }
}

/** All constants of a graph: initializers and `Constant` nodes. */
export function constantsOf(graph: Graph): Map<string, TensorValue> {
  const constants = new Map(graph.initializers);
  for (const node of graph.nodes) {
    const value = node.op === 'Constant' ? constantValue(node) : undefined;
    if (value) constants.set(node.outputs[0]!, value);
  }
  return constants;
}

/** `graph` cut down to what `outputs` (values in it) need. Unused inputs disappear too. */
export function prune(graph: Graph, outputs: readonly ValueInfo[]): Graph {
  const needed = new Set(outputs.map((output) => output.name));
  const nodes: GraphNode[] = [];
  for (const node of [...graph.nodes].reverse()) {
    if (!node.outputs.some((output) => needed.has(output))) continue;
    nodes.push(node);
    for (const input of node.inputs) needed.add(input);
  }
  return {
    ...graph,
    nodes: nodes.reverse(),
    outputs,
    inputs: graph.inputs.filter((input) => needed.has(input.name)),
    initializers: new Map([...graph.initializers].filter(([name]) => needed.has(name))),
  };
}
