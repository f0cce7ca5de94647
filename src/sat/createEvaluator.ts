import type { Kernels } from '../kernels/kernels.ts';
import type { RunConfig } from '../runs/config.ts';
import type { Task } from '../tasks/task.ts';
import type { Evaluator } from './evaluator.ts';
import { createExactEvaluator } from './exactEvaluator.ts';
import { createSolutionEvaluator } from './solutionEvaluator.ts';
import type { Team } from './team.ts';

/**
 * The best evaluator that the task allows.
 *
 * @throws {RangeError} for a task with neither a transition model nor a unique solution.
 */
export async function createEvaluator(
  config: RunConfig,
  task: Task,
  team: Team,
  kernels: Kernels,
): Promise<Evaluator> {
  if (task.model !== undefined) return createExactEvaluator(task.model, team, kernels);
  if (task.uniqueSolution) return createSolutionEvaluator(config, task, team, kernels);
  throw new RangeError(`the task ${task.name} can be neither enumerated nor solved, so J cannot be measured`);
}
