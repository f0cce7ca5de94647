import { type ProgramSource, programSource, type Shaders } from './wgsl.ts';

/** How a row is reduced: by one thread, or by the threads of one workgroup together. */
export type Reduction = 'thread' | 'workgroup';

/** Threads in a workgroup of each strategy; the WGSL override WIDTH. */
const WIDTH: Readonly<Record<Reduction, number>> = { thread: 64, workgroup: 128 };

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

/** A compiled kernel in one reduction strategy. */
export interface Program {
  readonly name: string;
  readonly source: ProgramSource;
  readonly pipeline: GPUComputePipeline;
  /** Rows (or elements) that one workgroup covers. */
  readonly rowsPerWorkgroup: number;
}

/** Every kernel, in every strategy it has. */
export class Programs {
  private constructor(private readonly byKey: ReadonlyMap<string, Program>) {}

  /** Compiles all pipelines side by side. Rejects with the compiler's messages, each with file, line and source. */
  static async compile(device: GPUDevice, shaders: Shaders): Promise<Programs> {
    const entries = Object.entries(PROGRAMS) as [ProgramName, ProgramSpec][];
    const jobs = entries.flatMap(([name, program]) =>
      program.reductions.map(async (reduction) => {
        const key = `${name}/${reduction}`;
        return [key, await compileProgram(device, key, program, reduction, shaders)] as const;
      }),
    );
    return new Programs(new Map(await Promise.all(jobs)));
  }

  /** The kernel `name` in `reduction`; throws a RangeError if it has no such variant. */
  get(name: ProgramName, reduction: Reduction): Program {
    const program = this.byKey.get(`${name}/${reduction}`);
    if (!program) throw new RangeError(`kernel ${name} has no "${reduction}" variant`);
    return program;
  }
}

async function compileProgram(
  device: GPUDevice,
  label: string,
  program: ProgramSpec,
  reduction: Reduction,
  shaders: Shaders,
): Promise<Program> {
  const source = programSource([`lib_${reduction}_per_row`, ...program.libraries, program.file], shaders);
  return {
    name: label,
    source,
    pipeline: await compilePipeline(device, label, source, program.entryPoint, { WIDTH: WIDTH[reduction] }),
    rowsPerWorkgroup: reduction === 'thread' ? WIDTH.thread : 1,
  };
}

/** Compiles one entry point. Rejects with the compiler's messages, each with file, line and source. */
export async function compilePipeline(
  device: GPUDevice,
  label: string,
  source: ProgramSource,
  entryPoint: string,
  constants: Readonly<Record<string, number>>,
): Promise<GPUComputePipeline> {
  // The scope keeps the compiler's complaint out of the uncaptured errors; it is reported in full below.
  device.pushErrorScope('validation');
  const module = device.createShaderModule({ label, code: source.code });
  const scope = device.popErrorScope();
  const { messages } = await module.getCompilationInfo();
  await scope;
  const errors = messages.filter((message) => message.type === 'error');
  if (errors.length > 0) {
    const lines = source.code.split('\n');
    const report = errors.map((error) => {
      const at = source.locate(error.lineNum);
      return `${at.file}:${at.line}:${error.linePos}: ${error.message}\n  ${lines[error.lineNum - 1] ?? ''}`;
    });
    throw new Error(`kernel ${label} does not compile\n${report.join('\n')}`);
  }
  return device.createComputePipelineAsync({
    label,
    layout: 'auto',
    compute: { module, entryPoint, constants },
  });
}
