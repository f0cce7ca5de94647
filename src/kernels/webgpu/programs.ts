import { type ProgramSource, programSource, type Shaders } from './wgsl.ts';

/** How a row is reduced: by one thread, or by the threads of one workgroup together. */
export type Reduction = 'thread' | 'workgroup';

/** Threads in a workgroup of each strategy; the WGSL override WIDTH. */
const WIDTH: Readonly<Record<Reduction, number>> = { thread: 64, workgroup: 64 };

/**
 * Rows of more columns than this are reduced by a workgroup. Barriers cost more than they save on short rows: on a
 * software adapter 2048 x 32 takes 40 times longer by workgroup, while 64 x 50257 is 1.4 times faster.
 */
export const LONGEST_THREAD_ROW = 512;

interface ProgramSpec {
  /** Libraries besides the row strategy, in order. */
  readonly libraries: readonly string[];
  readonly file: string;
  readonly entryPoint: string;
  readonly reductions: readonly Reduction[];
}

const ROWS: readonly Reduction[] = ['thread', 'workgroup'];
const PAIR = ['lib_numbers', 'lib_softmax_pair'];
const SINGLE = ['lib_numbers', 'lib_softmax'];

function spec(
  file: string,
  reductions: readonly Reduction[],
  libraries: readonly string[] = [],
): ProgramSpec {
  return { file, reductions, libraries, entryPoint: 'main' };
}

const PROGRAMS = {
  logProb: spec('log_prob', ROWS, SINGLE),
  kl: { ...spec('kl', ROWS, PAIR), entryPoint: 'divergence' },
  klGradient: { ...spec('kl', ROWS, PAIR), entryPoint: 'divergenceAndGradient' },
  clippedObjective: spec('clipped_objective', ROWS, PAIR),
  clippedObjectiveStats: spec('clipped_objective_stats', ['workgroup']),
  importanceRatios: spec('importance_ratios', ['thread'], ['lib_numbers']),
  advantages: spec('advantages', ['thread']),
  groupNormalise: spec('group_normalise', ['thread']),
  klQuantile: spec('kl_quantile', ['workgroup'], ['lib_numbers']),
  sample: spec('sample', ROWS, [...SINGLE, 'lib_threefry']),
  gatherRows: spec('gather_rows', ['thread']),
  scatterAddRows: spec('scatter_add_rows', ['thread']),
  gradNormPartials: spec('grad_norm_partials', ['thread']),
  gradNorm: spec('grad_norm', ['workgroup']),
  gradScale: spec('grad_scale', ['thread']),
  adamw: spec('adamw', ['thread']),
} satisfies Record<string, ProgramSpec>;

export type ProgramName = keyof typeof PROGRAMS;

/** A kernel in one reduction strategy. */
export interface Program {
  readonly name: string;
  readonly source: ProgramSource;
  readonly pipeline: GPUComputePipeline;
  /** Rows (or elements) that one workgroup covers. */
  readonly rowsPerWorkgroup: number;
}

interface CheckedModule {
  readonly source: ProgramSource;
  readonly module: GPUShaderModule;
}

/**
 * Every kernel, in every strategy it has. All WGSL is checked at once; a pipeline is built when it is first used, since
 * a software adapter takes half a second for some and a run needs few of them.
 */
export class Programs {
  private readonly built = new Map<string, Program>();

  private constructor(
    private readonly device: GPUDevice,
    private readonly modules: ReadonlyMap<string, CheckedModule>,
  ) {}

  /** Rejects with the compiler's messages, each with file, line and source. */
  static async compile(device: GPUDevice, shaders: Shaders): Promise<Programs> {
    const keys = new Map<string, readonly [ProgramSpec, Reduction]>();
    for (const program of Object.values<ProgramSpec>(PROGRAMS)) {
      for (const reduction of program.reductions)
        keys.set(moduleKey(program, reduction), [program, reduction]);
    }
    const jobs = [...keys].map(async ([key, [program, reduction]]) => {
      const files = [`lib_${reduction}_per_row`, ...program.libraries, program.file];
      const source = programSource(files, shaders);
      return [key, { source, module: await compileModule(device, key, source) }] as const;
    });
    return new Programs(device, new Map(await Promise.all(jobs)));
  }

  /** The kernel `name` in `reduction`; throws a RangeError if it has no such variant. */
  get(name: ProgramName, reduction: Reduction): Program {
    const label = `${name}/${reduction}`;
    const known = this.built.get(label);
    if (known) return known;
    const program: ProgramSpec = PROGRAMS[name];
    const checked = this.modules.get(moduleKey(program, reduction));
    if (!checked) throw new RangeError(`kernel ${name} has no "${reduction}" variant`);
    const { module, source } = checked;
    const constants = { WIDTH: WIDTH[reduction] };
    const { entryPoint } = program;
    const built: Program = {
      name: label,
      source,
      pipeline: this.device.createComputePipeline({
        label,
        layout: 'auto',
        compute: { module, entryPoint, constants },
      }),
      rowsPerWorkgroup: reduction === 'thread' ? WIDTH.thread : 1,
    };
    this.built.set(label, built);
    return built;
  }
}

function moduleKey(program: ProgramSpec, reduction: Reduction): string {
  return `${program.file}.wgsl (${reduction})`;
}

/** Compiles a module. Rejects with the compiler's messages, each with file, line and source. */
export async function compileModule(
  device: GPUDevice,
  label: string,
  source: ProgramSource,
): Promise<GPUShaderModule> {
  // The scope keeps the compiler's complaint out of the uncaptured errors; it is reported in full below.
  device.pushErrorScope('validation');
  const module = device.createShaderModule({ label, code: source.code });
  const scope = device.popErrorScope();
  const { messages } = await module.getCompilationInfo();
  await scope;
  const errors = messages.filter((message) => message.type === 'error');
  if (errors.length === 0) return module;
  const lines = source.code.split('\n');
  const report = errors.map((error) => {
    const at = source.locate(error.lineNum);
    return `${at.file}:${at.line}:${error.linePos}: ${error.message}\n  ${lines[error.lineNum - 1] ?? ''}`;
  });
  throw new Error(`${label} does not compile\n${report.join('\n')}`);
}
