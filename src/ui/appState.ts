/** What the page knows and can do, as types; store.ts holds it. */
import type { RunConfig } from '../runs/config.ts';
import type { ConfigIssue } from '../runs/configError.ts';
import type { Artifact, ArtifactId, SatEvent } from '../runs/events.ts';
import type { AgentSummary } from '../sat/run.ts';
import type { BackendChoice, BackendReport, RunUntil, TaskSummary } from '../worker/protocol.ts';
import type { DraftValue, Edits } from './draft.ts';
import type { Notice } from './notices.ts';

/**
 * `loading`: fetching a config or starting the engine. `preparing`: building the team. `idle`: waiting for a step.
 * `failed`: the run stopped where it was; its log stays, Reset starts again.
 */
export type RunStatus = 'loading' | 'preparing' | 'idle' | 'running' | 'finished' | 'failed';

export interface Progress {
  readonly what: string;
  readonly done: number;
  /** 0 when the amount of work is not known. */
  readonly total: number;
}

/** `gone`: the engine keeps artifacts for a few stages only. */
export type ArtifactState =
  | { readonly status: 'pending' }
  | { readonly status: 'gone' }
  | { readonly status: 'ready'; readonly artifact: Artifact };

/** What undo goes back to. */
export interface UndoStep {
  /** The knob whose change this step precedes; a second change of the same knob adds no step. */
  readonly field: string;
  readonly config: RunConfig;
  readonly edits: Edits;
}

export interface AppState {
  readonly status: RunStatus;
  /** Pause was asked for; the engine is finishing a micro-step. */
  readonly pausing: boolean;
  readonly progress: Progress | undefined;
  readonly runName: string;
  /** The running config, every default filled in; undefined before the first `ready`. */
  readonly config: RunConfig | undefined;
  /** What the team plays; there whenever `config` is. */
  readonly task: TaskSummary | undefined;
  readonly agents: readonly AgentSummary[];
  readonly backend: BackendReport | undefined;

  /** The log so far, append-only; see the top of this file. */
  readonly events: readonly SatEvent[];
  /** Wall-clock time of each micro-step, parallel to `events`. */
  readonly milliseconds: readonly number[];
  /** events.length, as a number that selectors can compare. */
  readonly eventCount: number;
  /** Index of the event being looked at; -1 before the first. The first `cursor + 1` events are what the panels show. */
  readonly cursor: number;
  /** Whether the cursor moves along with the newest event. */
  readonly following: boolean;

  /** Artifacts asked for so far, newest last, a bounded number. */
  readonly artifacts: ReadonlyMap<ArtifactId, ArtifactState>;

  /** Knobs changed but not applied, by dotted path, e.g. `sat.delta`. */
  readonly edits: Edits;
  readonly undoSteps: readonly UndoStep[];

  readonly notices: readonly Notice[];
  /** The preset that the run is from, edited or not; undefined for a config of the user's own. */
  readonly presetId: string | undefined;
  readonly backends: BackendChoice;
  /** Least time from one event to the next while running, ms; 0 = as fast as it goes. */
  readonly pace: number;

  /** Loads what the page's address asks for, and says what in it was not understood. */
  readonly start: (presetId: string, backends: BackendChoice, problems: readonly ConfigIssue[]) => void;
  readonly loadPreset: (id: string) => Promise<void>;
  /** Loads a config of the user's own (YAML text). */
  readonly loadConfig: (yaml: string) => void;
  /** The same, from a file. */
  readonly loadConfigFile: (file: File) => Promise<void>;
  readonly go: (until: RunUntil) => void;
  readonly pause: () => void;
  /** Starts the same config from the beginning; after a failure, or if the engine does not answer, with a new engine. */
  readonly reset: () => void;
  readonly setPace: (milliseconds: number) => void;
  /** Looks at event `index`; the newest one switches following back on. */
  readonly scrub: (index: number) => void;
  /** Fetches an artifact into `artifacts` unless it is there or on its way. */
  readonly requestArtifact: (id: ArtifactId) => void;
  readonly edit: (field: string, value: DraftValue) => void;
  readonly discardEdits: () => void;
  readonly undo: () => void;
  /** Restarts the run with the edits. */
  readonly applyDraft: () => void;
  readonly dismiss: (id: number) => void;
}
