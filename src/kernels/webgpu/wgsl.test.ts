import { describe, expect, test } from 'vitest';
import { loadShaders } from '../../../test/support/lanes.ts';
import { paramsBytes, programSource, writeParams } from './wgsl.ts';

const KERNEL = `// struct Params { commented: f32 }
@group(0) @binding(0) var<storage, read> logits: array<f32>; // @group(0) @binding(9) var<storage> no: u32;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;
struct Params {
  // how many
  rows: u32,
  offset: i32,
  scale: f32,
}
@group(0) @binding(4) var<uniform> params: Params;
`;

describe('programSource', () => {
  test('finds bindings and the layout of Params, comments aside', () => {
    const source = programSource(['lib', 'kernel'], { lib: 'const A = 1;\n', kernel: KERNEL });
    expect([...source.bindings]).toEqual([
      ['logits', 0],
      ['out', 3],
      ['params', 4],
    ]);
    expect(source.params).toEqual([
      { name: 'rows', type: 'u32', offset: 0 },
      { name: 'offset', type: 'i32', offset: 4 },
      { name: 'scale', type: 'f32', offset: 8 },
    ]);
  });

  test('locates lines of the joined module in their files', () => {
    const { code, locate } = programSource(['lib', 'kernel'], { lib: 'a\nb\n', kernel: 'c\nd' });
    const line = code.split('\n').indexOf('d') + 1;
    expect(locate(line)).toEqual({ file: 'kernel.wgsl', line: 2 });
    expect(locate(2)).toEqual({ file: 'lib.wgsl', line: 2 });
  });

  test('names a missing file and a Params member that is no scalar', () => {
    expect(() => programSource(['kl'], { other: '' })).toThrow('shader kl.wgsl is missing; given: other');
    expect(() => programSource(['k'], { k: 'struct Params { x: vec4f }' })).toThrow(
      'k.wgsl: Params member "x: vec4f"',
    );
  });
});

describe('writeParams', () => {
  const { params } = programSource(['kernel'], { kernel: KERNEL });

  test('writes each scalar at its place', () => {
    const view = new DataView(new ArrayBuffer(32));
    writeParams(params, { scale: 0.5, rows: 4000000000, offset: -2 }, view, 16);
    expect(view.getUint32(16, true)).toBe(4000000000);
    expect(view.getInt32(20, true)).toBe(-2);
    expect(view.getFloat32(24, true)).toBe(0.5);
    expect(paramsBytes(params)).toBe(16);
  });

  test('refuses missing and unknown fields', () => {
    const view = new DataView(new ArrayBuffer(16));
    expect(() => writeParams(params, { rows: 1, offset: 0 }, view, 0)).toThrow(
      'Params field scale was given no value',
    );
    const extra = { rows: 1, offset: 0, scale: 1, rowz: 2 };
    expect(() => writeParams(params, extra, view, 0)).toThrow(
      'Params has no field rowz; it has rows, offset, scale',
    );
  });
});

test('the header of every kernel states its shapes and its reduction', () => {
  const kernels = Object.entries(loadShaders()).filter(([name]) => !name.startsWith('lib_'));
  expect(kernels.length).toBeGreaterThan(10);
  for (const [name, source] of kernels) {
    const header = source.slice(0, source.indexOf('\n\n'));
    expect(header, name).toContain('// Shapes: ');
    expect(header, name).toContain('// Reduction: ');
  }
});
