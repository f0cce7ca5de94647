import {
  type Attribute,
  floatTensor,
  type GraphNode,
  int32Tensor,
  int64Tensor,
  type TensorValue,
} from './ir.ts';

/** Attribute values in short form: an integer-valued number is `int` unless wrapped by `float`. */
export type AttributeValue = number | string | readonly number[] | Attribute;

/** A float attribute, rounded to float32 as files store it: JavaScript cannot tell 1.0 from 1. */
export function float(value: number): Attribute {
  return { kind: 'float', value: Math.fround(value) };
}

/**
 * Appends nodes and constants to a graph under construction and names their values. Equal constants, and equal pure
 * nodes (`shared`), are made once.
 */
export class GraphBuilder {
  readonly nodes: GraphNode[] = [];
  readonly initializers = new Map<string, TensorValue>();
  private readonly cache = new Map<string, string>();
  private counter = 0;

  /** `prefix` starts every generated name, so that names cannot collide with those of another graph. */
  constructor(private readonly prefix: string) {}

  /** Appends a node with one output and returns the output's name: `output` or a generated one. */
  emit(
    op: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, AttributeValue>> = {},
    output = this.fresh(op),
  ): string {
    this.append(op, inputs, attributes, [output]);
    return output;
  }

  /** Appends a node with `count` outputs. */
  emitMany(
    op: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, AttributeValue>>,
    count: number,
  ): string[] {
    const outputs = Array.from({ length: count }, () => this.fresh(op));
    this.append(op, inputs, attributes, outputs);
    return outputs;
  }

  /** Like `emit`, but a node with the same operator, inputs and attributes is reused. */
  shared(
    op: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, AttributeValue>> = {},
  ): string {
    const key = JSON.stringify([op, inputs, attributes]);
    const known = this.cache.get(key);
    if (known !== undefined) return known;
    const output = this.emit(op, inputs, attributes);
    this.cache.set(key, output);
    return output;
  }

  /** int64 vector. */
  ints(values: readonly number[]): string {
    return this.constant(`int64 ${values}`, () => int64Tensor(values, [values.length]));
  }

  /** int64 scalar (rank 0). */
  int(value: number): string {
    return this.constant(`int64 scalar ${value}`, () => int64Tensor([value], []));
  }

  /** int32 tensor. */
  int32s(values: readonly number[], dims: readonly number[]): string {
    return this.constant(`int32 ${dims}: ${values}`, () => int32Tensor(values, dims));
  }

  /** float32 scalar (rank 0). */
  float(value: number): string {
    return this.constant(`float32 ${value}`, () => floatTensor([value], []));
  }

  private constant(key: string, make: () => TensorValue): string {
    const known = this.cache.get(key);
    if (known !== undefined) return known;
    const name = this.fresh('const');
    this.initializers.set(name, make());
    this.cache.set(key, name);
    return name;
  }

  private append(
    op: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, AttributeValue>>,
    outputs: readonly string[],
  ): void {
    const entries = Object.entries(attributes).map(([key, value]) => [key, toAttribute(value)] as const);
    this.nodes.push({ op, domain: '', name: outputs[0]!, inputs, outputs, attributes: new Map(entries) });
  }

  private fresh(hint: string): string {
    return `${this.prefix}${hint}_${this.counter++}`;
  }
}

function toAttribute(value: AttributeValue): Attribute {
  if (typeof value === 'number') return { kind: 'int', value };
  if (typeof value === 'string') return { kind: 'string', value };
  return 'kind' in value ? value : { kind: 'ints', value };
}
