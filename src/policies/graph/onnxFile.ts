/** Reads and writes ONNX files. The only module that knows protobuf. */

import type { onnx } from 'onnx-proto';
import onnxProto from 'onnx-proto';
import { ModelError } from '../modelError.ts';
import {
  type Attribute,
  type Dim,
  ELEMENT_BYTES,
  type ElementType,
  type Graph,
  type GraphNode,
  sizeOf,
  type TensorValue,
  type ValueInfo,
} from './ir.ts';

/** TensorProto.DataType by number. */
const ELEMENT_TYPE: ReadonlyMap<number, ElementType> = new Map<number, ElementType>([
  [1, 'float32'],
  [2, 'uint8'],
  [3, 'int8'],
  [4, 'uint16'],
  [5, 'int16'],
  [6, 'int32'],
  [7, 'int64'],
  [9, 'bool'],
  [10, 'float16'],
  [11, 'float64'],
  [12, 'uint32'],
  [13, 'uint64'],
]);
const TYPE_NUMBER = new Map([...ELEMENT_TYPE].map(([number, type]) => [type, number]));

/** TensorProto.DataType number of `type`, as `Cast` wants it. */
export function typeNumber(type: ElementType): number {
  return TYPE_NUMBER.get(type)!;
}

/** AttributeProto.AttributeType by number. */
const ATTRIBUTE = { float: 1, int: 2, string: 3, tensor: 4, floats: 6, ints: 7, strings: 8 } as const;
const IR_VERSION = 8;

/** An int64 as protobuf decoding gives it: a number, or a Long where the `long` package is present. */
type Int64 = number | { readonly low: number; readonly high: number };

const text = new TextDecoder();
const utf8 = new TextEncoder();

/**
 * Parses an ONNX model. `name` appears in errors. Throws `ModelError` for bytes that are not a whole ONNX model, for
 * tensors whose data do not match their dimensions, for external data and for control flow (subgraphs). Allocates no
 * more than the file holds, whatever its headers claim.
 */
export function readModel(bytes: Uint8Array, name: string): Graph {
  const model = decode(bytes, name);
  const graph = model.graph;
  if (!graph || (graph.node ?? []).length === 0) {
    throw new ModelError(name, 'the file holds no graph', 'give a complete .onnx file');
  }
  const initializers = new Map<string, TensorValue>();
  for (const tensor of graph.initializer ?? []) {
    initializers.set(tensor.name ?? '', readTensor(tensor, `initializer ${tensor.name}`, name));
  }
  if ((graph.sparseInitializer ?? []).length > 0) {
    throw new ModelError(name, 'it has sparse initializers', 'export dense weights');
  }
  return {
    name: graph.name ?? '',
    opsets: new Map(
      (model.opsetImport ?? []).map((entry) => [standardDomain(entry.domain), toNumber(entry.version ?? 0)]),
    ),
    nodes: (graph.node ?? []).map((node) => readNode(node, name)),
    inputs: (graph.input ?? [])
      .filter((input) => !initializers.has(input.name ?? ''))
      .map((input) => readValueInfo(input, name)),
    outputs: (graph.output ?? []).map((output) => readValueInfo(output, name)),
    initializers,
  };
}

function decode(bytes: Uint8Array, name: string): onnx.IModelProto {
  try {
    return onnxProto.onnx.ModelProto.decode(bytes);
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new ModelError(
      name,
      `its ${bytes.length} bytes are not a whole ONNX model (${detail})`,
      'give a complete .onnx file',
    );
  }
}

function standardDomain(domain: string | null | undefined): string {
  return domain === 'ai.onnx' ? '' : (domain ?? '');
}

/** Clamped to the integers that a double holds exactly. */
function toNumber(value: Int64): number {
  const number = typeof value === 'number' ? value : value.high * 2 ** 32 + (value.low >>> 0);
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, number));
}

function toBigInt(value: Int64): bigint {
  if (typeof value === 'number') return BigInt(toNumber(value));
  return (BigInt(value.high) << 32n) | BigInt(value.low >>> 0);
}

function readNode(node: onnx.INodeProto, model: string): GraphNode {
  const op = node.opType ?? '';
  const where = `node ${node.name || node.output?.[0]} (${op})`;
  return {
    op,
    domain: standardDomain(node.domain),
    name: node.name || (node.output?.[0] ?? ''),
    inputs: node.input ?? [],
    outputs: node.output ?? [],
    attributes: new Map(
      (node.attribute ?? []).map((attribute) => [
        attribute.name ?? '',
        readAttribute(attribute, where, model),
      ]),
    ),
  };
}

function readAttribute(attribute: onnx.IAttributeProto, where: string, model: string): Attribute {
  switch (Number(attribute.type)) {
    case ATTRIBUTE.float:
      return { kind: 'float', value: attribute.f ?? 0 };
    case ATTRIBUTE.int:
      return { kind: 'int', value: toNumber(attribute.i ?? 0) };
    case ATTRIBUTE.string:
      return { kind: 'string', value: text.decode(attribute.s ?? new Uint8Array()) };
    case ATTRIBUTE.tensor:
      return { kind: 'tensor', value: readTensor(attribute.t ?? {}, where, model) };
    case ATTRIBUTE.floats:
      return { kind: 'floats', value: attribute.floats ?? [] };
    case ATTRIBUTE.ints:
      return { kind: 'ints', value: (attribute.ints ?? []).map(toNumber) };
    case ATTRIBUTE.strings:
      return { kind: 'strings', value: (attribute.strings ?? []).map((value) => text.decode(value)) };
    default:
      throw new ModelError(
        model,
        `${where} has an attribute "${attribute.name}" of type ${attribute.type} (a subgraph or sparse tensor)`,
        'export without control flow, for example not as a merged decoder',
      );
  }
}

function readTensor(tensor: onnx.ITensorProto, where: string, model: string): TensorValue {
  const type = ELEMENT_TYPE.get(tensor.dataType ?? 0);
  if (!type) {
    throw new ModelError(model, `${where} has element type ${tensor.dataType}`, 'export it as float32');
  }
  if (Number(tensor.dataLocation ?? 0) !== 0) {
    throw new ModelError(model, `${where} is stored in another file`, 'export one self-contained file');
  }
  const dims = (tensor.dims ?? []).map(toNumber);
  const bytes = tensorBytes(tensor, type);
  const expected = sizeOf(dims) * ELEMENT_BYTES[type];
  if (dims.some((dim) => dim < 0) || bytes.length !== expected) {
    throw new ModelError(
      model,
      `${where} has dimensions [${dims}] of ${type} but ${bytes.length} bytes of data`,
      `${expected} bytes would match`,
    );
  }
  return { type, dims, bytes };
}

function tensorBytes(tensor: onnx.ITensorProto, type: ElementType): Uint8Array {
  if (tensor.rawData && tensor.rawData.length > 0) return new Uint8Array(tensor.rawData);
  switch (type) {
    case 'float32':
      return new Uint8Array(Float32Array.from(tensor.floatData ?? []).buffer);
    case 'float64':
      return new Uint8Array(Float64Array.from(tensor.doubleData ?? []).buffer);
    case 'int64':
      return new Uint8Array(BigInt64Array.from(tensor.int64Data ?? [], toBigInt).buffer);
    case 'uint32':
      return new Uint8Array(Uint32Array.from(tensor.uint64Data ?? [], toNumber).buffer);
    case 'uint64':
      return new Uint8Array(BigUint64Array.from(tensor.uint64Data ?? [], toBigInt).buffer);
    case 'int32':
      return new Uint8Array(Int32Array.from(tensor.int32Data ?? []).buffer);
    case 'uint16':
    case 'int16':
    case 'float16':
      return new Uint8Array(Uint16Array.from(tensor.int32Data ?? []).buffer);
    case 'uint8':
    case 'int8':
    case 'bool':
      return Uint8Array.from(tensor.int32Data ?? []);
  }
}

function readValueInfo(value: onnx.IValueInfoProto, model: string): ValueInfo {
  const tensor = value.type?.tensorType;
  const type = ELEMENT_TYPE.get(tensor?.elemType ?? 0);
  if (!type) {
    throw new ModelError(model, `"${value.name}" is not a tensor of numbers`, 'only tensors are supported');
  }
  const dims = tensor?.shape ? (tensor.shape.dim ?? []) : undefined;
  return {
    name: value.name ?? '',
    type,
    shape: dims?.map((dim, axis): Dim => {
      if (dim.dimParam) return dim.dimParam;
      const size = toNumber(dim.dimValue ?? 0);
      return size > 0 ? size : `${value.name}.${axis}`;
    }),
  };
}

/** Serialises `graph` as an ONNX model; the same graph gives the same bytes. */
export function writeModel(graph: Graph): Uint8Array {
  return onnxProto.onnx.ModelProto.encode({
    irVersion: IR_VERSION,
    producerName: 'sat-playground',
    opsetImport: [...graph.opsets].map(([domain, version]) => ({ domain, version })),
    graph: {
      name: graph.name,
      node: graph.nodes.map(writeNode),
      initializer: [...graph.initializers].map(([name, value]) => writeTensor(value, name)),
      input: graph.inputs.map(writeValueInfo),
      output: graph.outputs.map(writeValueInfo),
    },
  }).finish();
}

function writeNode(node: GraphNode): onnx.INodeProto {
  return {
    opType: node.op,
    domain: node.domain,
    name: node.name,
    input: [...node.inputs],
    output: [...node.outputs],
    attribute: [...node.attributes].map(([name, attribute]) => writeAttribute(name, attribute)),
  };
}

function writeAttribute(name: string, attribute: Attribute): onnx.IAttributeProto {
  const type: number = ATTRIBUTE[attribute.kind];
  switch (attribute.kind) {
    case 'float':
      return { name, type, f: attribute.value };
    case 'int':
      return { name, type, i: attribute.value };
    case 'string':
      return { name, type, s: utf8.encode(attribute.value) };
    case 'tensor':
      return { name, type, t: writeTensor(attribute.value, '') };
    case 'floats':
      return { name, type, floats: [...attribute.value] };
    case 'ints':
      return { name, type, ints: [...attribute.value] };
    case 'strings':
      return { name, type, strings: attribute.value.map((value) => utf8.encode(value)) };
  }
}

function writeTensor(tensor: TensorValue, name: string): onnx.ITensorProto {
  return { name, dims: [...tensor.dims], dataType: typeNumber(tensor.type), rawData: tensor.bytes };
}

function writeValueInfo(value: ValueInfo): onnx.IValueInfoProto {
  const shape = value.shape && {
    dim: value.shape.map((dim) => (typeof dim === 'number' ? { dimValue: dim } : { dimParam: dim })),
  };
  return {
    name: value.name,
    type: { tensorType: { elemType: typeNumber(value.type), ...(shape && { shape }) } },
  };
}
