import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

type Layer =
  | 'ui'
  | 'worker'
  | 'experiments'
  | 'sat'
  | 'tasks'
  | 'policies'
  | 'kernels'
  | 'exact'
  | 'runs'
  | 'cli';

interface Rule {
  /** Other layers that files of this one may import. */
  readonly layers: readonly Layer[];
  /** Layers of which only types may be imported. */
  readonly types?: readonly Layer[];
  /** Packages allowed; `any` = all but Node's own modules. */
  readonly packages: readonly string[] | 'any';
  /** Node's own modules are allowed. */
  readonly node?: true;
}

/**
 * Who may import what. Imports point one way: ui -> worker -> experiments -> sat -> (tasks, policies, kernels, exact). `runs`
 * holds the types and schemas that all share; it reads the list of tasks to check a config. The page computes no part
 * of the algorithm: below the worker it sees types only. The command line stands outside and may use everything.
 */
const RULES: Readonly<Record<Layer, Rule>> = {
  ui: {
    layers: ['worker', 'runs'],
    types: ['experiments', 'sat', 'tasks', 'policies', 'kernels', 'exact'],
    packages: 'any',
  },
  worker: {
    layers: ['experiments', 'sat', 'tasks', 'policies', 'kernels', 'exact', 'runs'],
    packages: [],
  },
  experiments: { layers: ['sat', 'tasks', 'policies', 'kernels', 'exact', 'runs'], packages: [] },
  sat: { layers: ['tasks', 'policies', 'kernels', 'exact', 'runs'], packages: [] },
  tasks: { layers: ['exact', 'kernels', 'runs'], packages: [] },
  policies: { layers: ['kernels', 'runs'], packages: ['onnx-proto', 'onnxruntime-web'] },
  kernels: { layers: ['runs'], packages: [] },
  exact: { layers: ['kernels', 'runs'], packages: [] },
  runs: { layers: ['tasks'], types: ['kernels'], packages: ['yaml', 'zod'] },
  cli: {
    layers: ['worker', 'experiments', 'sat', 'tasks', 'policies', 'kernels', 'exact', 'runs'],
    packages: 'any',
    node: true,
  },
};

/** Folders outside src/ that a file may read at build time, by the path of the importing file. */
const OUTSIDE: readonly { readonly from: RegExp; readonly target: RegExp }[] = [
  { from: /^src\/kernels\/webgpu\//, target: /^shaders\/[\w-]+\.wgsl\?raw$/ },
  { from: /^src\/(ui|cli)\//, target: /^public\/presets\/[\w-]+\.yaml\?raw$/ },
];

/** These layers also use no global of a browser or of Node, so that they run the same anywhere. */
const PURE: readonly Layer[] = ['experiments', 'sat', 'tasks', 'exact', 'runs'];
const HOST_GLOBAL =
  /(?<![.\w'"`-])(document|window|localStorage|navigator|process|Buffer|GPUDevice|GPUBuffer)\s*[.[(]/;

interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
}

/** Every import and re-export of a module, static or dynamic. Comments are not code. */
function importsOf(source: string): Import[] {
  const code = withoutComments(source);
  const fixed = /(?:^|[\n;])\s*(?:import|export)\s+(type\s+)?(?:[^'";]*?\bfrom\s*)?['"]([^'"]+)['"]/g;
  const dynamic = /\bimport\(\s*['"]([^'"]+)['"]/g;
  return [
    ...[...code.matchAll(fixed)].map((m) => ({ specifier: m[2] ?? '', typeOnly: m[1] !== undefined })),
    ...[...code.matchAll(dynamic)].map((m) => ({ specifier: m[1] ?? '', typeOnly: false })),
  ];
}

function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/[^\n]*/g, '$1');
}

const layerOf = (path: string) => /^src\/(\w+)\//.exec(path)?.[1];
const isLayer = (name: string | undefined): name is Layer => name !== undefined && name in RULES;

/** `@scope/name/sub?url` -> `@scope/name`. */
function packageOf(specifier: string): string {
  return specifier.split(/[/?]/, specifier.startsWith('@') ? 2 : 1).join('/');
}

/** What is wrong with one import of the file `path` (relative to the root, with `/`), or undefined. */
function problemWith(path: string, { specifier, typeOnly }: Import): string | undefined {
  const layer = layerOf(path);
  if (!isLayer(layer)) return `${path}: the folder is not in the table of layers`;
  const rule = RULES[layer];
  const says = (allowed: string) => `${path} imports ${specifier}; ${layer} may import ${allowed}`;
  if (specifier.startsWith('.')) {
    const target = posix.join(posix.dirname(path), specifier);
    const targetLayer = layerOf(target);
    if (targetLayer === layer || OUTSIDE.some((o) => o.from.test(path) && o.target.test(target)))
      return undefined;
    if (!isLayer(targetLayer)) return says('only files of the layers, and what OUTSIDE lists');
    if (rule.layers.includes(targetLayer) || (typeOnly && rule.types?.includes(targetLayer)))
      return undefined;
    const types = rule.types === undefined ? '' : `, and types of ${rule.types.join(', ')}`;
    return says(`the layers ${rule.layers.join(', ')}${types}`);
  }
  if (specifier.startsWith('node:')) return rule.node ? undefined : says("no module of Node's");
  if (rule.packages === 'any' || rule.packages.includes(packageOf(specifier))) return undefined;
  return says(rule.packages.length === 0 ? 'no package' : `the packages ${rule.packages.join(', ')}`);
}

/** Sources of src/, tests left out, relative to the root. */
function sources(): string[] {
  return readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort();
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

describe('boundaries', () => {
  test('every import of src/ points the allowed way', () => {
    const problems = sources().flatMap((path) =>
      importsOf(read(path)).flatMap((found) => problemWith(path, found) ?? []),
    );
    expect(problems).toEqual([]);
  });

  test('the core uses no global of a browser or of Node', () => {
    const uses = sources()
      .filter((path) => PURE.some((layer) => layerOf(path) === layer))
      .flatMap((path) => {
        const found = HOST_GLOBAL.exec(withoutComments(read(path)));
        return found === null ? [] : [`${path} uses ${found[1]}`];
      });
    expect(uses).toEqual([]);
  });

  test('every random number comes from the seeded generator', () => {
    const unseeded = sources().filter((path) => withoutComments(read(path)).includes('Math.random('));
    expect(unseeded).toEqual([]);
  });
});

describe('the rules themselves', () => {
  test('imports are found in every form, and not in comments', () => {
    const source = [
      "import { a } from './a.ts';",
      "import type { B } from '../b.ts';",
      "import './side.css';",
      'import {\n  c,\n  d,\n} from "pkg/sub";',
      "export { e } from './e.ts';",
      "export type { F } from './f.ts';",
      "const g = await import('./g.ts');",
      "// import { x } from './x.ts';",
      "/* import { y } from './y.ts'; */",
      "const text = 'from nowhere';",
    ].join('\n');
    expect(importsOf(source)).toEqual([
      { specifier: './a.ts', typeOnly: false },
      { specifier: '../b.ts', typeOnly: true },
      { specifier: './side.css', typeOnly: false },
      { specifier: 'pkg/sub', typeOnly: false },
      { specifier: './e.ts', typeOnly: false },
      { specifier: './f.ts', typeOnly: true },
      { specifier: './g.ts', typeOnly: false },
    ]);
  });

  const value = (specifier: string): Import => ({ specifier, typeOnly: false });
  const type = (specifier: string): Import => ({ specifier, typeOnly: true });

  test.each([
    ['src/sat/stage.ts', value('../kernels/kernels.ts')],
    ['src/runs/config.ts', value('../tasks/index.ts')],
    ['src/ui/App.tsx', value('@mantine/core')],
    ['src/ui/App.tsx', type('../sat/run.ts')],
    ['src/kernels/webgpu/kl.ts', value('../../../shaders/kl.wgsl?raw')],
    ['src/policies/ortBrowser.ts', value('onnxruntime-web/ort-wasm-simd-threaded.wasm?url')],
    ['src/cli/main.ts', value('node:fs')],
  ])('%s may have %j', (path, found) => {
    expect(problemWith(path, found)).toBeUndefined();
  });

  test.each([
    ['src/sat/stage.ts', value('../worker/protocol.ts'), 'sat may import the layers tasks'],
    ['src/sat/stage.ts', value('react'), 'sat may import no package'],
    ['src/sat/stage.ts', value('node:fs'), "sat may import no module of Node's"],
    ['src/exact/solve.ts', type('../tasks/task.ts'), 'exact may import the layers kernels, runs'],
    ['src/runs/events.ts', type('../sat/run.ts'), 'runs may import the layers tasks, and types of kernels'],
    ['src/ui/App.tsx', value('../sat/stage.ts'), 'and types of experiments, sat'],
    ['src/ui/App.tsx', value('node:path'), "ui may import no module of Node's"],
    ['src/kernels/cpu/kl.ts', value('../../../shaders/kl.wgsl?raw'), 'what OUTSIDE lists'],
    ['src/policies/tabular.ts', value('yaml'), 'the packages onnx-proto, onnxruntime-web'],
    ['src/extras/x.ts', value('./y.ts'), 'not in the table of layers'],
  ])('%s may not have %j', (path, found, message) => {
    const problem = problemWith(path, found);
    expect(problem).toContain(message);
    expect(problem).toContain(path);
  });

  test.each([
    ['document.body', true],
    ['if (process.env) {}', true],
    ['the.document.body', false],
    ['const windowed = window_;', false],
  ])('%s: host global %s', (code, expected) => {
    expect(HOST_GLOBAL.test(code)).toBe(expected);
  });
});

test('the golden vectors are the ones the checksums were taken of', () => {
  const listed = read('test/golden.sha256')
    .trim()
    .split('\n')
    .map((line) => line.split(/\s+/))
    .map(([sum = '', path = '']) => ({ sum, path }));
  const present = readdirSync(join(ROOT, dirname(listed[0]?.path ?? ''))).sort();
  expect(present).toEqual(listed.map(({ path }) => posix.basename(path)).sort());
  const changed = listed.filter(
    ({ sum, path }) =>
      createHash('sha256')
        .update(readFileSync(join(ROOT, path)))
        .digest('hex') !== sum,
  );
  expect(changed).toEqual([]);
});
