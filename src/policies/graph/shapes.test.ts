import { expect, test } from 'vitest';
import { GraphBuilder } from './builder.ts';
import type { Dim } from './ir.ts';
import { inferShapes } from './shapes.ts';

/** Shape of the value that `build` returns, for x0 [batch, length, 8] and x1 [8, 3]. */
function shapeOf(build: (b: GraphBuilder) => string): readonly Dim[] | undefined {
  const b = new GraphBuilder('');
  const name = build(b);
  const { shapes } = inferShapes(
    {
      name: 'g',
      opsets: new Map([['', 20]]),
      nodes: b.nodes,
      initializers: b.initializers,
      inputs: [
        { name: 'x0', type: 'float32', shape: ['batch', 'length', 8] },
        { name: 'x1', type: 'float32', shape: [8, 3] },
        { name: 'x2', type: 'float32', shape: undefined },
      ],
      outputs: [],
    },
    'm',
  );
  return shapes.get(name);
}

test('products and broadcasts keep symbols', () => {
  expect(shapeOf((b) => b.emit('MatMul', ['x0', 'x1']))).toEqual(['batch', 'length', 3]);
  expect(shapeOf((b) => b.emit('Add', ['x0', b.float(1)]))).toEqual(['batch', 'length', 8]);
  expect(shapeOf((b) => b.emit('Add', ['x0', 'x2']))).toBeUndefined();
});

test('a reshape to rows and back finds its dimensions again', () => {
  const rows = (b: GraphBuilder) => b.emit('Reshape', ['x0', b.ints([-1, 4])]);
  const [product] = shapeOf(rows)!;
  expect(product).toBe('2*batch*length');
  const back = (b: GraphBuilder) => {
    const lead = b.emit('Slice', [b.emit('Shape', ['x0']), b.ints([0]), b.ints([2]), b.ints([0])]);
    return b.emit('Reshape', [rows(b), b.emit('Concat', [lead, b.ints([2, -1])], { axis: 0 })]);
  };
  expect(shapeOf(back)).toEqual(['batch', 'length', 2, 4]);
});

test('sizes computed as exporters do: gathered, unsqueezed, concatenated, multiplied', () => {
  const shape = shapeOf((b) => {
    const all = b.emit('Shape', ['x0']);
    const batch = b.emit('Unsqueeze', [b.emit('Gather', [all, b.int(0)]), b.ints([0])]);
    const twice = b.emit('Mul', [batch, b.ints([2])]);
    return b.emit('ConstantOfShape', [b.emit('Concat', [twice, b.ints([5])], { axis: 0 })]);
  });
  expect(shape).toEqual(['2*batch', 5]);
});

test('contents do not survive arithmetic that is not tracked', () => {
  const shape = shapeOf((b) => {
    const width = b.emit('Slice', [b.emit('Shape', ['x1']), b.ints([0]), b.ints([1]), b.ints([0])]);
    const root = b.emit('Cast', [b.emit('Sqrt', [b.emit('Cast', [width], { to: 1 })])], { to: 7 });
    return b.emit('ConstantOfShape', [root]);
  });
  expect(shape).toBeUndefined();
});
