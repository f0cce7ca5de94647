import type { AdamWHyper, Kernels } from '../kernels/kernels.ts';
import { Rng } from '../kernels/rng.ts';
import type { RunConfig } from '../runs/config.ts';
import type { WarmStartEvent } from '../runs/events.ts';
import type { Task } from '../tasks/task.ts';
import { RunError, requireFinite } from './errors.ts';
import type { Agent, Team } from './team.ts';
import { newOptimiser } from './team.ts';

/** Trajectories in which every decision is the solver's. */
export interface Demonstrations {
  readonly batch: number;
  /** T */
  readonly steps: number;
  /** [B * T] */
  readonly observations: Int32Array;
  /** [B * T] the solver's action at decision columns, 0 elsewhere. */
  readonly actions: Int32Array;
  /** [B * T] the agent that acts, -1 where none does. */
  readonly actor: Int32Array;
}

/** Steps per event: few, so that a pause is answered soon, yet the log stays short. */
const STEPS_PER_EVENT = 2;

/** The KL that decides when to stop is averaged over this many steps: a single batch is too noisy. */
const AVERAGE_OVER = 10;

/**
 * Plays `batch` episodes with the task's solver, one from each generator.
 *
 * @throws {RunError} if the task has no solver.
 */
export function demonstrate(task: Task, generators: readonly Rng[]): Demonstrations {
  const batch = generators.length;
  const steps = task.columns;
  const observations = new Int32Array(batch * steps);
  const actions = new Int32Array(batch * steps);
  const actor = new Int32Array(batch * steps).fill(-1);
  generators.forEach((rng, b) => {
    const episode = task.start(rng);
    observations.set(episode.prompt, b * steps);
    for (let column = episode.prompt.length - 1; ; column++) {
      const joint = episode.expert?.();
      if (joint === undefined) {
        throw new RunError(`the task ${task.name} has no solver to imitate`, { step: 'warm start' });
      }
      const [agent] = episode.actors();
      actor[b * steps + column] = agent!;
      actions[b * steps + column] = joint[agent!]!;
      const outcome = episode.act(joint, rng);
      if (outcome.end !== undefined) return;
      observations[b * steps + column + 1] = outcome.observation;
    }
  });
  return { batch, steps, observations, actions, actor };
}

/**
 * Warm start: one agent imitates the solver at every position, and the whole team starts from its weights, as a team of
 * copies of one base model does: the base depends on its own seed, not on the run's. The teacher gives its answer the
 * probability `teacher` and spreads the rest, so the base learns what is right without being sure of it, and SAT has
 * something to gain. It ends after `steps`, or once the mean KL to the teacher is down to `targetKl`.
 */
export async function* warmStart(
  team: Team,
  task: Task,
  config: RunConfig,
  kernels: Kernels,
): AsyncGenerator<Omit<WarmStartEvent, 'seq'>, void> {
  const { steps, batch, lr, teacher, targetKl, seed } = config.warmStart;
  const [first, ...others] = team.agents;
  if (steps === 0 || first === undefined) return;
  const optimiser = newOptimiser(first.policy, kernels);
  const learner = { ...first, optimiser };
  const hyper = { ...config.optimiser, weightDecay: 0, lr };
  const recent: number[] = [];
  for (let step = 1; step <= steps; step++) {
    const generators = Array.from({ length: batch }, (_, b) => Rng.of(seed, 'warmStart', step, b));
    const shown = demonstrate(task, generators);
    recent.push(await imitationStep(learner, shown, teacher, team.temperature, hyper, kernels));
    if (recent.length > AVERAGE_OVER) recent.shift();
    const kl = recent.reduce((sum, value) => sum + value, 0) / recent.length;
    requireFinite({ 'the loss': kl }, { step: 'warm start', innerStep: step });
    const done = recent.length === AVERAGE_OVER && kl <= targetKl;
    if (done || step % STEPS_PER_EVENT === 0 || step === steps) {
      yield { kind: 'warmStart', step, steps, kl, targetKl };
    }
    if (done) break;
  }
  kernels.release(...optimiser.m, ...optimiser.v);
  for (const agent of others) {
    agent.policy.parameters.forEach(({ tensor }, k) => {
      kernels.assign(tensor, first.policy.parameters[k]!.tensor);
    });
  }
}

/** One AdamW step on the mean KL(teacher || agent) over all decisions. Returns that mean before the step, nats. */
async function imitationStep(
  agent: Agent,
  shown: Demonstrations,
  certainty: number,
  temperature: number,
  hyper: AdamWHyper & { readonly maxNorm: number },
  kernels: Kernels,
): Promise<number> {
  const rows = shown.batch * shown.steps;
  const V = agent.policy.nActions;
  const observations = { batch: shown.batch, steps: shown.steps, data: shown.observations };
  const decisions = shown.actor.reduce((count, actor) => count + (actor >= 0 ? 1 : 0), 0);
  const weights = Float64Array.from(shown.actor, (actor) => (actor >= 0 ? 1 / decisions : 0));
  const logitsCur = kernels.tensor(teacherLogits(shown, V, certainty, temperature), [rows, V], 'teacher');
  const gradWeight = kernels.tensor(weights, [rows], 'decisions');
  const logitsTar = await agent.policy.forward(observations);
  const { kl, grad } = kernels.kl({ logitsTar, logitsCur, temperature, direction: 'cur-tar', gradWeight });
  const grads = await agent.policy.backward(observations, grad!);
  const norm = kernels.clipGradNorm(grads, hyper.maxNorm);
  kernels.adamw(
    agent.policy.parameters.map((parameter) => parameter.tensor),
    grads,
    agent.optimiser,
    hyper,
  );
  const [values] = await kernels.read(kl);
  kernels.release(logitsCur, gradWeight, logitsTar, kl, grad, norm, ...grads);
  return values!.reduce((sum, value, row) => sum + weights[row]! * value, 0);
}

/** [B * T, V] logits whose softmax at this temperature gives the solver's action `certainty`, the others equal parts. */
function teacherLogits(
  shown: Demonstrations,
  V: number,
  certainty: number,
  temperature: number,
): Float64Array {
  const logits = new Float64Array(shown.actions.length * V);
  const preference = temperature * Math.log((certainty * (V - 1)) / (1 - certainty));
  shown.actions.forEach((action, row) => {
    logits[row * V + action] = preference;
  });
  return logits;
}
