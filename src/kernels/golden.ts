/** Runs the kernels on cases of the golden files (docs and formats: test/golden/README.md). */
import { type GoldenRecord, type GoldenValue, goldenArray, goldenNumber, nested } from '../runs/golden.ts';
import type { Kernels, KlDirection, Tensor, Trace, TypedArray } from './kernels.ts';
import { objectiveStats } from './kernels.ts';
import { k1, k2, k3 } from './klEstimators.ts';
import { dkwEpsilon } from './quantile.ts';

/** Groups of golden files that the kernels answer. */
export const KERNEL_GROUPS = [
  'log_prob',
  'kl',
  'clipped_objective',
  'advantage',
  'quantile',
  'adamw',
] as const;

export type KernelGroup = (typeof KERNEL_GROUPS)[number];

/** Whether a golden file of this group is for the kernels. */
export function isKernelGroup(group: string): group is KernelGroup {
  return KERNEL_GROUPS.some((known) => known === group);
}

/**
 * The values of one case, under the keys of the case's `expected`.
 * Throws where an input that the group requires is missing or malformed.
 */
export async function runKernelCase(
  group: KernelGroup,
  input: GoldenRecord,
  kernels: Kernels,
): Promise<GoldenRecord> {
  const scope = new Scope(kernels, input);
  try {
    return await RUNNERS[group](scope);
  } finally {
    scope.release();
  }
}

type Runner = (scope: Scope) => Promise<GoldenRecord>;

/** One case's inputs as tensors, and everything to give back afterwards. */
class Scope {
  private readonly owned: Tensor[] = [];

  constructor(
    readonly kernels: Kernels,
    private readonly input: GoldenRecord,
  ) {}

  own<T extends Tensor>(tensor: T): T {
    this.owned.push(tensor);
    return tensor;
  }

  has(key: string): boolean {
    return this.input[key] !== undefined;
  }

  number(key: string, fallback?: number): number {
    if (fallback !== undefined && !this.has(key)) return fallback;
    return goldenNumber(this.input[key], key);
  }

  shape(key: string): number[] {
    return goldenArray(this.input[key], key).shape;
  }

  /** An input as floats; [.., V] inputs keep their shape. */
  floats(key: string): Tensor {
    const { data, shape } = goldenArray(this.input[key], key);
    return this.tensor(data, shape, key);
  }

  ints(key: string): Tensor {
    const { data, shape } = goldenArray(this.input[key], key);
    return this.tensor(Int32Array.from(data), shape, key);
  }

  tensor(data: TypedArray, shape: readonly number[], label: string): Tensor {
    return this.own(this.kernels.tensor(data, shape, label));
  }

  /** An input that is a list of arrays of different shapes. */
  list(key: string): GoldenValue[] {
    const value = this.input[key];
    if (!Array.isArray(value))
      throw new TypeError(`${key}: expected a list of arrays, got ${JSON.stringify(value)}`);
    return [...value];
  }

  /** Reads tensors by name, and takes them over. */
  async read<K extends string>(tensors: Readonly<Record<K, Tensor>>): Promise<Record<K, Float64Array>> {
    const names = Object.keys(tensors) as K[];
    const numbers = await this.kernels.read(...names.map((name) => this.own(tensors[name])));
    const entries = names.map((name, i) => [name, numbers[i]!] as const);
    return Object.fromEntries(entries) as Record<K, Float64Array>;
  }

  release(): void {
    this.kernels.release(...this.owned);
  }
}

const RUNNERS: Readonly<Record<KernelGroup, Runner>> = {
  log_prob: runLogProb,
  kl: runKl,
  clipped_objective: runClippedObjective,
  advantage: runAdvantage,
  quantile: runQuantile,
  adamw: runAdamW,
};

async function runLogProb(scope: Scope): Promise<GoldenRecord> {
  const result = scope.kernels.logProb({
    logits: scope.floats('logits'),
    actions: scope.ints('actions'),
    temperature: scope.number('temperature', 1),
  });
  const { logProb, logsumexp, entropy } = await scope.read({ ...result });
  return { log_prob: [...logProb], logsumexp: [...logsumexp], entropy: [...entropy] };
}

async function runKl(scope: Scope): Promise<GoldenRecord> {
  const shape = scope.shape('logits_tar');
  const rows = shape[0]!;
  const logits = { logitsTar: scope.floats('logits_tar'), logitsCur: scope.floats('logits_cur') };
  const temperature = scope.number('temperature', 1);
  const gradWeight = scope.tensor(new Float64Array(rows).fill(1 / rows), [rows], 'gradWeight');
  const out: Record<string, GoldenValue> = {};
  for (const direction of ['tar-cur', 'cur-tar'] as const) {
    const { kl, grad } = scope.kernels.kl({ ...logits, temperature, direction, gradWeight });
    if (!grad) throw new Error('kl: no gradient although gradWeight was given');
    const numbers = await scope.read({ kl, grad });
    const name = direction.replace('-', '_');
    out[`kl_${name}`] = [...numbers.kl];
    out[`mean_kl_${name}`] = numbers.kl.reduce((sum, x) => sum + x, 0) / rows;
    out[`grad_mean_kl_${name}_wrt_logits_tar`] = nested(numbers.grad, shape);
  }
  if (scope.has('actions')) Object.assign(out, await runKlEstimators(scope, logits, temperature));
  return out;
}

async function runKlEstimators(
  scope: Scope,
  logits: { readonly logitsTar: Tensor; readonly logitsCur: Tensor },
  temperature: number,
): Promise<GoldenRecord> {
  const actions = scope.ints('actions');
  const tar = await scope.read({
    ...scope.kernels.logProb({ logits: logits.logitsTar, actions, temperature }),
  });
  const cur = await scope.read({
    ...scope.kernels.logProb({ logits: logits.logitsCur, actions, temperature }),
  });
  const d = Array.from(tar.logProb, (logp, n) => logp - cur.logProb[n]!);
  const out: Record<string, GoldenValue> = { logp_tar: [...tar.logProb], logp_cur: [...cur.logProb] };
  const directions: readonly KlDirection[] = ['tar-cur', 'cur-tar'];
  for (const direction of directions) {
    const name = direction.replace('-', '_');
    out[`k1_${name}`] = d.map((x) => k1(x, direction));
    out[`k2_${name}`] = d.map(k2);
    out[`k3_${name}`] = d.map((x) => k3(x, direction));
  }
  return out;
}

async function runClippedObjective(scope: Scope): Promise<GoldenRecord> {
  const shape = scope.shape('logits_tar');
  const [batch = 0, steps = 0] = shape;
  const active = goldenArray(scope.list('active'), 'active').data;
  const activeSteps = active.reduce((sum, x) => sum + x, 0);
  const klWeight = active.map((x) => (activeSteps === 0 ? 0 : x / activeSteps));
  const eps = scope.number('eps');
  const result = scope.kernels.clippedObjective({
    batch,
    steps,
    logitsTar: scope.floats('logits_tar'),
    logitsCur: scope.floats('logits_cur'),
    actions: scope.ints('actions'),
    active: scope.ints('active'),
    advantages: scope.floats('advantages'),
    klWeight: scope.tensor(klWeight, [batch, steps], 'klWeight'),
    epsLow: eps,
    epsHigh: eps,
    beta: scope.number('beta'),
    temperature: scope.number('temperature', 1),
  });
  const numbers = await scope.read({ ...result });
  const stats = objectiveStats(numbers.stats);
  return {
    u: [...numbers.u],
    ratio: [...numbers.ratio],
    ratio_clipped: [...numbers.ratioClipped],
    objective: [...numbers.objective],
    mean_objective: stats.meanObjective,
    kl: nested(numbers.kl, [batch, steps]),
    mean_kl: stats.meanKl,
    loss: stats.loss,
    grad_loss_wrt_logits_tar: nested(numbers.dlogits, shape),
    clip_fraction: stats.clipFraction,
    outside_fraction: stats.outsideFraction,
  };
}

async function runAdvantage(scope: Scope): Promise<GoldenRecord> {
  const [batch = 0, steps = 0] = scope.shape('rewards');
  const inputs = {
    batch,
    steps,
    rewards: scope.floats('rewards'),
    logpHat: scope.floats('logp_hat'),
    logpCur: scope.floats('logp_cur'),
    values: scope.floats('values'),
    lengths: scope.ints('lengths'),
    terminated: scope.ints('terminated'),
    gamma: scope.number('gamma'),
    lambda: scope.number('lambda'),
  };
  const group = scope.ints('group');
  const out: Record<string, GoldenValue> = {};
  const traces: readonly Trace[] = ['retrace', 'vtrace'];
  for (const trace of traces) {
    const result = scope.kernels.advantages({ ...inputs, trace });
    const normalised = scope.kernels.groupNormalise({
      values: result.sequence,
      group,
      eps: scope.number('eps'),
      clip: scope.number('A_clip'),
    });
    const numbers = await scope.read({ ...result, ...normalised });
    for (const key of ['rho', 'c', 'delta'] as const) out[key] = nested(numbers[key], [batch, steps]);
    out[`advantage_${trace}`] = nested(numbers.advantage, [batch, steps]);
    out[`sequence_${trace}`] = [...numbers.sequence];
    out[`normalised_${trace}`] = [...numbers.normalised];
    out[`clipped_${trace}`] = [...numbers.clipped];
  }
  return out;
}

async function runQuantile(scope: Scope): Promise<GoldenRecord> {
  const delta = scope.number('delta');
  const values = scope.floats('kl');
  const result = await scope.kernels.klQuantile({ values, alpha: scope.number('alpha'), delta });
  return {
    quantile_linear: result.linear,
    quantile_higher: result.higher,
    violation_count: result.violationCount,
    violation_rate: result.count === 0 ? 0 : result.violationCount / result.count,
    max: result.max,
    mean: result.mean,
    exceeds_linear: result.linear > delta,
    exceeds_higher: result.higher > delta,
    ...(scope.has('eta') && { dkw_epsilon: dkwEpsilon(result.count, scope.number('eta')) }),
  };
}

/** Tensors of one step, each with its own shape. */
function tensorsOf(
  scope: Scope,
  list: GoldenValue | undefined,
  what: string,
): { tensors: Tensor[]; shapes: number[][] } {
  if (!Array.isArray(list))
    throw new TypeError(`${what}: expected a list of arrays, got ${JSON.stringify(list)}`);
  const arrays = list.map((value: GoldenValue, k) => goldenArray(value, `${what}[${k}]`));
  return {
    tensors: arrays.map(({ data, shape }, k) => scope.tensor(data, shape, `${what}[${k}]`)),
    shapes: arrays.map(({ shape }) => shape),
  };
}

async function runAdamW(scope: Scope): Promise<GoldenRecord> {
  const { kernels } = scope;
  const params = scope.has('params') ? tensorsOf(scope, scope.list('params'), 'params') : undefined;
  const zeros = (label: string) => (params?.tensors ?? []).map((p) => scope.own(kernels.zerosLike(p, label)));
  const state = { m: zeros('m'), v: zeros('v'), step: 0 };
  const out: Record<'params' | 'm' | 'v' | 'total_norm' | 'clipped_grads', GoldenValue[]> = {
    params: [],
    m: [],
    v: [],
    total_norm: [],
    clipped_grads: [],
  };
  const readAll = async (tensors: readonly Tensor[], shapes: readonly number[][]) =>
    (await kernels.read(...tensors)).map((numbers, k) => nested(numbers, shapes[k]!));
  for (const [step, list] of scope.list('grads').entries()) {
    const grads = tensorsOf(scope, list, `grads[${step}]`);
    if (scope.has('max_norm')) {
      const norm = scope.own(kernels.clipGradNorm(grads.tensors, scope.number('max_norm')));
      out.total_norm.push((await kernels.read(norm))[0]![0]!);
      out.clipped_grads.push(await readAll(grads.tensors, grads.shapes));
    }
    if (!params) continue;
    kernels.adamw(params.tensors, grads.tensors, state, {
      lr: scope.number('lr'),
      beta1: scope.number('beta1'),
      beta2: scope.number('beta2'),
      eps: scope.number('eps'),
      weightDecay: scope.number('weight_decay'),
    });
    out.params.push(await readAll(params.tensors, params.shapes));
    out.m.push(await readAll(state.m, params.shapes));
    out.v.push(await readAll(state.v, params.shapes));
  }
  return out;
}
