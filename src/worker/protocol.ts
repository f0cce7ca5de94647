/**
 * The messages between page and engine: discriminated unions both ways, no shared state. The worker drives the run
 * by pulling one event at a time, so pause, step and cancel answer between micro-steps.
 */
import type { Backend } from '../kernels/kernels.ts';
import type { RunConfig } from '../runs/config.ts';
import type { ConfigIssue } from '../runs/configError.ts';
import type { Artifact, ArtifactId, SatEvent } from '../runs/events.ts';
import type { Option } from '../runs/options.ts';
import type { AgentSummary } from '../sat/run.ts';

/** `auto`: WebGPU on a real adapter, otherwise wasm models and cpu kernels. */
export interface BackendChoice {
  readonly models: 'auto' | 'webgpu' | 'wasm';
  readonly kernels: 'auto' | 'webgpu' | 'cpu';
  /** wasm threads; absent = up to 4, one core being left to the page. One thread gives the same log everywhere. */
  readonly threads?: number;
}

/** Where a run really computes, and why. */
export interface BackendReport {
  readonly kernels: Backend;
  readonly kernelsWhy: string;
  /** Absent for tabular teams. */
  readonly models?: 'webgpu' | 'wasm';
  readonly modelsWhy?: string;
  /** Adapter name, or `CPU`. */
  readonly device: string;
  /** wasm threads; absent for other providers. */
  readonly threads?: number;
}

/** How far to go: one event; until an agent is done (its promote and certificate); until stageEnd; until told to pause. */
export type RunUntil = 'event' | 'agent' | 'stage' | 'end';

/** What the team plays, for people and for knobs. */
export interface TaskSummary {
  readonly title: string;
  /** One or two sentences for a newcomer. */
  readonly meaning: string;
  readonly options: readonly Option[];
}

export type EngineCommand =
  /**
   * Builds the run of a config (YAML text), replacing any earlier one. Answered by `ready`, or by `failed` and the
   * earlier run stays; a load that another one overtakes in the queue is not answered. `load`: its number, larger than
   * those before, which every answer repeats. `base`: the address against which the config's model files are resolved.
   */
  | {
      readonly type: 'load';
      readonly load: number;
      readonly yaml: string;
      readonly base: string;
      readonly backends: BackendChoice;
    }
  | { readonly type: 'go'; readonly until: RunUntil }
  /** Answered by `idle` after the current micro-step. */
  | { readonly type: 'pause' }
  /** Least time from one event to the next, for watching; 0 = as fast as it goes. Also while running. */
  | { readonly type: 'pace'; readonly milliseconds: number }
  /** Answered by `artifact`. */
  | { readonly type: 'artifact'; readonly id: ArtifactId };

export type EngineMessage =
  /** The config of a `load` is valid: the earlier run waits while the new one is built. */
  | { readonly type: 'preparing'; readonly load: number }
  | { readonly type: 'progress'; readonly what: string; readonly done: number; readonly total: number }
  | {
      readonly type: 'ready';
      readonly load: number;
      readonly runName: string;
      readonly task: TaskSummary;
      readonly agents: readonly AgentSummary[];
      /** Valid config with every default filled in. */
      readonly config: RunConfig;
      readonly backend: BackendReport;
    }
  /**
   * Consecutive events. `milliseconds`: wall-clock time of each micro-step, kept out of the events so that logs compare.
   * Always ahead of the message that says what they led to.
   */
  | {
      readonly type: 'events';
      readonly events: readonly SatEvent[];
      readonly milliseconds: readonly number[];
    }
  /** The engine waits; `finished` when the configured stages are done. */
  | { readonly type: 'idle'; readonly finished: boolean }
  | { readonly type: 'artifact'; readonly id: ArtifactId; readonly artifact: Artifact | undefined }
  | {
      readonly type: 'failed';
      /** The load that failed, or the load of the run that stopped. */
      readonly load: number;
      /**
       * `config`, or `model` for a model that could not be used: the earlier run stays, and `idle` follows if it can go
       * on. `run`: the run stopped where it was.
       */
      readonly where: 'config' | 'model' | 'run';
      readonly message: string;
      readonly issues: readonly ConfigIssue[];
    };
