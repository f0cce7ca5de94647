/** Reads what a dispatch needs to know from the WGSL itself: binding numbers and the layout of `Params`. */

/** WGSL sources by file name without `.wgsl`. */
export type Shaders = Readonly<Record<string, string>>;

interface ParamField {
  readonly name: string;
  readonly type: 'u32' | 'i32' | 'f32';
  /** Bytes from the start of the struct. */
  readonly offset: number;
}

export interface ProgramSource {
  /** The whole module: libraries first, then the kernel. */
  readonly code: string;
  /** Binding number by variable name, all in group 0. */
  readonly bindings: ReadonlyMap<string, number>;
  /** Fields of `struct Params`, in order; empty if the kernel has none. */
  readonly params: readonly ParamField[];
  /** The file and line of a line (from 1) of `code`. */
  locate(line: number): { file: string; line: number };
}

const COMMENT = /\/\/.*$/gm;
const BINDING = /@group\(0\)\s*@binding\((\d+)\)\s*var<[^>]+>\s*(\w+)\s*:/g;
const PARAMS = /struct\s+Params\s*\{([^}]*)\}/;

/** Size and alignment of each scalar that `Params` may hold. */
const SCALAR_BYTES = 4;

function parseParams(code: string, file: string): ParamField[] {
  const body = PARAMS.exec(code)?.[1];
  if (body === undefined) return [];
  const members = body.split(',').map((member) => member.trim());
  return members
    .filter((member) => member !== '')
    .map((member, i) => {
      const [, name, type] = /^(\w+)\s*:\s*(u32|i32|f32)$/.exec(member) ?? [];
      if (!name || !type) {
        throw new SyntaxError(`${file}.wgsl: Params member "${member}" must be \`name: u32, i32 or f32\``);
      }
      return { name, type: type as ParamField['type'], offset: i * SCALAR_BYTES };
    });
}

/**
 * Joins `files` (names without `.wgsl`, the kernel last) into one module.
 * Throws a RangeError naming a file that `shaders` lacks, a SyntaxError for a `Params` of anything but scalars.
 */
export function programSource(files: readonly string[], shaders: Shaders): ProgramSource {
  const starts: { file: string; start: number }[] = [];
  const sources: string[] = [];
  let line = 1;
  for (const file of files) {
    const source = shaders[file];
    if (source === undefined) {
      const known = Object.keys(shaders).join(', ') || 'none';
      throw new RangeError(`shader ${file}.wgsl is missing; given: ${known}`);
    }
    starts.push({ file, start: line });
    sources.push(source);
    line += source.split('\n').length;
  }
  const code = sources.join('\n');
  const plain = code.replace(COMMENT, '');
  const bindings = new Map<string, number>();
  for (const [, number, name] of plain.matchAll(BINDING)) bindings.set(name!, Number(number));
  return {
    code,
    bindings,
    params: parseParams(plain, files.at(-1) ?? ''),
    locate(at) {
      const part = starts.findLast(({ start }) => start <= at) ?? starts[0]!;
      return { file: `${part.file}.wgsl`, line: at - part.start + 1 };
    },
  };
}

/** Bytes of a uniform buffer that holds `params`: a whole number of 16-byte blocks. */
export function paramsBytes(params: readonly ParamField[]): number {
  return Math.max(16, Math.ceil((params.length * SCALAR_BYTES) / 16) * 16);
}

/**
 * Writes `values` into `view` at `base` as the WGSL struct lays them out.
 * Throws a RangeError if a field has no value or a value has no field.
 */
export function writeParams(
  params: readonly ParamField[],
  values: Readonly<Record<string, number>>,
  view: DataView,
  base: number,
): void {
  const extra = Object.keys(values).find((name) => !params.some((field) => field.name === name));
  if (extra)
    throw new RangeError(`Params has no field ${extra}; it has ${params.map((f) => f.name).join(', ')}`);
  for (const { name, type, offset } of params) {
    const value = values[name];
    if (value === undefined) throw new RangeError(`Params field ${name} was given no value`);
    if (type === 'f32') view.setFloat32(base + offset, value, true);
    else if (type === 'u32') view.setUint32(base + offset, value, true);
    else view.setInt32(base + offset, value, true);
  }
}
