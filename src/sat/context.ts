import type { Kernels } from '../kernels/kernels.ts';
import type { RunConfig } from '../runs/config.ts';
import type { Task } from '../tasks/task.ts';
import type { ArtifactStore } from './artifacts.ts';
import type { Evaluator } from './evaluator.ts';
import type { Team } from './team.ts';

/** Everything a stage works with. */
export interface StageContext {
  readonly config: RunConfig;
  readonly task: Task;
  readonly team: Team;
  readonly kernels: Kernels;
  readonly evaluator: Evaluator;
  readonly artifacts: ArtifactStore;
}
