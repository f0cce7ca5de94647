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

/**
 * Steps between reports and between looks at the target: often enough for a progress bar, rare enough for the log, and
 * enough steps to average the loss over.
 */
const REPORT_EVERY = 10;

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
        throw new RunError(`the task ${task.name} has no solver to imitate`, {
          stage: -1,
          step: 'warm start',
        });
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
 * Supervised warm start: one agent learns from the solver's answers at every position, and the whole team starts from
 * its weights, as a team of copies of one base model does: the base depends on its own seed, not on the run's. It ends after `steps`, or once the loss, averaged over the
 * last few steps, is down to `targetNll`. The loss is the clipped objective at ratio 1 with advantage 1, whose gradient
 * is that of the log-likelihood.
 */
export async function* warmStart(
  team: Team,
  task: Task,
  config: RunConfig,
  kernels: Kernels,
): AsyncGenerator<Omit<WarmStartEvent, 'seq'>, void> {
  const { steps, batch, lr, targetNll, seed } = config.warmStart;
  const [first, ...others] = team.agents;
  if (steps === 0 || first === undefined) return;
  const optimiser = newOptimiser(first.policy, kernels);
  const learner = { ...first, optimiser };
  const hyper = { ...config.optimiser, weightDecay: 0, lr };
  let recent = 0;
  for (let step = 1; step <= steps; step++) {
    const generators = Array.from({ length: batch }, (_, b) => Rng.of(seed, 'warmStart', step, b));
    const nll = await supervisedStep(
      learner,
      demonstrate(task, generators),
      config.sat.temperature,
      hyper,
      kernels,
    );
    requireFinite({ 'the loss': nll }, { stage: -1, step: 'warm start', innerStep: step });
    recent += nll / REPORT_EVERY;
    if (step % REPORT_EVERY > 0) continue;
    yield { kind: 'warmStart', step, steps, nll: recent, targetNll };
    if (recent <= targetNll) break;
    recent = 0;
  }
  kernels.release(...optimiser.m, ...optimiser.v);
  for (const agent of others) {
    agent.policy.parameters.forEach(({ tensor }, k) => {
      kernels.assign(tensor, first.policy.parameters[k]!.tensor);
    });
  }
}

/** One AdamW step on the log-likelihood of the solver's actions. Returns the mean negative log-likelihood a decision. */
async function supervisedStep(
  agent: Agent,
  shown: Demonstrations,
  temperature: number,
  hyper: AdamWHyper & { readonly maxNorm: number },
  kernels: Kernels,
): Promise<number> {
  const rows = shown.batch * shown.steps;
  const observations = { batch: shown.batch, steps: shown.steps, data: shown.observations };
  const isDecision = shown.actor.map((actor) => (actor >= 0 ? 1 : 0));
  const decisions = isDecision.reduce((sum, flag) => sum + flag, 0);
  const logits = await agent.policy.forward(observations);
  const inputs = {
    actions: kernels.tensor(shown.actions, [rows], 'solver actions'),
    active: kernels.tensor(isDecision, [rows], 'decisions'),
    advantages: kernels.tensor(new Float64Array(shown.batch).fill(1), [shown.batch], 'ones'),
    klWeight: kernels.tensor(new Float64Array(rows), [rows], 'no KL'),
  };
  const objective = kernels.clippedObjective({
    ...inputs,
    batch: shown.batch,
    steps: shown.steps,
    logitsTar: logits,
    logitsCur: logits,
    epsLow: 0.5,
    epsHigh: 0.5,
    beta: 0,
    temperature,
  });
  const likelihood = kernels.logProb({ logits, actions: inputs.actions, temperature });
  const grads = await agent.policy.backward(observations, objective.dlogits);
  const norm = kernels.clipGradNorm(grads, hyper.maxNorm);
  kernels.adamw(
    agent.policy.parameters.map((parameter) => parameter.tensor),
    grads,
    agent.optimiser,
    hyper,
  );
  const [logProb] = await kernels.read(likelihood.logProb);
  kernels.release(logits, norm, ...grads, ...Object.values(inputs));
  kernels.release(...Object.values(objective), ...Object.values(likelihood));
  return -logProb!.reduce((sum, value, row) => sum + (isDecision[row] === 1 ? value : 0), 0) / decisions;
}
