import type { Kernels } from '../kernels/kernels.ts';
import type { ModelRuntime } from '../policies/modelRuntime.ts';
import type { RunConfig } from '../runs/config.ts';
import type { Artifact, ArtifactId, SatEvent } from '../runs/events.ts';
import type { Task } from '../tasks/task.ts';

/** What a run needs from the machine it is on. */
export interface RunEnvironment {
  readonly kernels: Kernels;
  /** Starts the ONNX runtime; called once, and only for teams that need one. */
  readonly modelRuntime: () => Promise<ModelRuntime>;
  /**
   * The bytes of the ONNX file that `team.model` names.
   *
   * @throws {ConfigError} naming team.model if there is no such file.
   */
  readonly readModel: (path: string) => Promise<Uint8Array>;
  /** Reports long preparations, e.g. building agents. */
  readonly onProgress?: (what: string, done: number, total: number) => void;
}

/** One agent, described for people. */
export interface AgentSummary {
  readonly name: string;
  readonly kind: 'tabular' | 'onnx' | 'mixture';
  readonly parameterCount: number;
  readonly description: string;
}

/** A team, a task and a seed, ready to be stepped. */
export interface Run {
  readonly config: RunConfig;
  readonly task: Task;
  readonly agents: readonly AgentSummary[];
  /** Larger data behind the events so far; old ids are dropped after some stages. */
  artifact(id: ArtifactId): Artifact | undefined;
  /** The whole run, warm start included: one event a micro-step. Call once. Throws `RunError` where a run must stop. */
  events(): AsyncGenerator<SatEvent, void>;
  dispose(): Promise<void>;
}
