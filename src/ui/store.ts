/**
 * What the page knows: one zustand store. Components select small pieces of it and send commands; the engine lives in a
 * worker behind `EngineClient`, and no component talks to it directly.
 *
 * Events are hot: they reach the store in batches, at most ten times a second while a run goes. `events` is append-only
 * and keeps its identity for the whole run, so memoise folds on `events` together with `cursor` or `eventCount`, never
 * on `events` alone.
 */
import { create } from 'zustand';
import type { RunConfig } from '../runs/config.ts';
import type { ConfigIssue } from '../runs/configError.ts';
import type { Artifact, ArtifactId, SatEvent } from '../runs/events.ts';
import type { AgentSummary } from '../sat/run.ts';
import type { BackendChoice, BackendReport, RunUntil, TaskSummary } from '../worker/protocol.ts';
import { changed, configFields, type DraftValue, type Edits, editsTowards, withEdits } from './draft.ts';
import { EngineClient, type EngineListener } from './engineClient.ts';
import type { Notice } from './notices.ts';
import { fetchPreset } from './presets.ts';

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
interface UndoStep {
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
  readonly go: (until: RunUntil) => void;
  readonly pause: () => void;
  /** Starts the same config from the beginning; after a failure with a new engine. */
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

/** Artifacts kept in the page. */
const MAX_ARTIFACTS = 128;
const MAX_UNDO = 100;

const HOW_TO_RESUME = 'The log so far stays here; Reset starts the run again with a new engine.';

/** A config's text, and the preset that it is from, if it is from one. */
interface Source {
  readonly yaml: string;
  readonly presetId: string | undefined;
  /** It is the run on screen with the user's edits, so undo still reaches back. */
  readonly edited?: true;
}

/** What a new run starts from. */
const emptyRun = {
  pausing: false,
  progress: undefined,
  edits: {},
  eventCount: 0,
  cursor: -1,
  following: true,
  artifacts: new Map<ArtifactId, ArtifactState>(),
};

/** The store for components: `const J = useApp((state) => …)`. Selectors return small, stable values. */
export const useApp = create<AppState>()((set, get) => {
  /** The log behind `events`; grows in place. */
  let log: { events: SatEvent[]; milliseconds: number[] } = { events: [], milliseconds: [] };
  let noticeCount = 0;
  /** What the run on screen was loaded from, for Reset, and what the load under way loads. */
  let accepted: Source | undefined;
  let requested: Source | undefined;

  const notify = (title: string, message: string, issues: Notice['issues'] = []) => {
    const notice: Notice = { id: noticeCount++, title, message, issues };
    set({ notices: [...get().notices, notice] });
  };

  const listener: EngineListener = {
    onProgress: ({ what, done, total }) => set({ progress: { what, done, total } }),
    onPreparing: () => set({ status: 'preparing', progress: undefined, pausing: false }),
    onReady: ({ runName, task, agents, config, backend }) => {
      const undoSteps = requested?.edited ? get().undoSteps : [];
      accepted = requested;
      log = { events: [], milliseconds: [] };
      const presetId = accepted?.presetId;
      set({ ...emptyRun, ...log, status: 'idle', presetId, undoSteps });
      set({ runName, task, agents, config, backend });
    },
    onEvents: (batch) => {
      for (const event of batch.events) log.events.push(event);
      for (const time of batch.milliseconds) log.milliseconds.push(time);
      const eventCount = log.events.length;
      set(get().following ? { eventCount, cursor: eventCount - 1 } : { eventCount });
    },
    onIdle: (finished) => set({ status: finished ? 'finished' : 'idle', pausing: false }),
    onArtifact: (id, artifact) =>
      set({
        artifacts: withArtifact(
          get().artifacts,
          id,
          artifact === undefined ? { status: 'gone' } : { status: 'ready', artifact },
        ),
      }),
    onFailed: ({ where, message, issues }) => {
      const { status } = get();
      if (where === 'run' || status === 'preparing' || status === 'loading') {
        // After a failed load `idle` follows if the earlier run can go on.
        set({ status: 'failed', pausing: false, progress: undefined });
      }
      if (where === 'run') {
        notify('The run stopped.', `${message} ${HOW_TO_RESUME}`, issues);
        return;
      }
      requested = accepted ?? requested;
      const title = where === 'config' ? 'This config cannot run.' : 'This team cannot be built.';
      notify(`${title} Nothing was changed.`, issues.length > 0 ? '' : message, issues);
    },
    onDead: (reason) => {
      set({ status: 'failed', pausing: false, progress: undefined });
      notify('The engine stopped.', `${reason}. ${HOW_TO_RESUME}`);
    },
  };
  const engine = new EngineClient(listener);

  const load = (source: Source) => {
    requested = source;
    engine.send({ type: 'load', yaml: source.yaml, base: modelBase(), backends: get().backends });
    // The worker may be a new one.
    engine.send({ type: 'pace', milliseconds: get().pace });
  };

  return {
    ...emptyRun,
    ...log,
    status: 'loading',
    runName: '',
    config: undefined,
    task: undefined,
    agents: [],
    backend: undefined,
    undoSteps: [],
    notices: [],
    presetId: undefined,
    backends: { models: 'auto', kernels: 'auto' },
    pace: 0,

    start: (presetId, backends, problems) => {
      set({ backends });
      if (problems.length > 0) {
        notify('Part of the address was not understood. Its defaults are used.', '', problems);
      }
      void get().loadPreset(presetId);
    },
    loadPreset: async (id) => {
      try {
        load({ yaml: await fetchPreset(id), presetId: id });
      } catch (error) {
        if (get().status === 'loading') set({ status: 'failed' });
        notify('The preset could not be loaded.', error instanceof Error ? error.message : String(error));
      }
    },
    loadConfig: (yaml) => load({ yaml, presetId: undefined }),
    go: (until) => {
      const { status } = get();
      if (status !== 'idle') return;
      set({ status: 'running', following: true, cursor: get().eventCount - 1 });
      engine.send({ type: 'go', until });
    },
    pause: () => {
      if (get().status !== 'running') return;
      set({ pausing: true });
      engine.send({ type: 'pause' });
    },
    reset: () => {
      const { status, pausing } = get();
      // A failed engine may hold a lost device, and one that does not answer Pause will not answer this.
      if (status === 'failed' || pausing) {
        engine.terminate();
        set({ status: 'loading', pausing: false });
      }
      const source = accepted ?? requested;
      if (source !== undefined) load(source);
    },
    setPace: (milliseconds) => {
      set({ pace: milliseconds });
      engine.send({ type: 'pace', milliseconds });
    },
    scrub: (index) => {
      const newest = get().eventCount - 1;
      const cursor = Math.max(Math.min(0, newest), Math.min(newest, Math.round(index)));
      set({ cursor, following: cursor === newest });
    },
    requestArtifact: (id) => {
      const { artifacts } = get();
      if (artifacts.has(id)) return;
      set({ artifacts: withArtifact(artifacts, id, { status: 'pending' }) });
      engine.send({ type: 'artifact', id });
    },
    edit: (field, value) => {
      const { config, edits, undoSteps } = get();
      if (config === undefined) return;
      set({
        edits: changed(config, edits, field, value),
        undoSteps: remember(undoSteps, field, config, edits),
      });
    },
    discardEdits: () => {
      const { config, edits, undoSteps } = get();
      if (config === undefined) return;
      set({ edits: {}, undoSteps: remember(undoSteps, '', config, edits) });
    },
    undo: () => {
      const { config, task, undoSteps } = get();
      const step = undoSteps.at(-1);
      if (config === undefined || task === undefined || step === undefined) return;
      set({
        edits: editsTowards(config, withEdits(step.config, step.edits), configFields(task.options)),
        undoSteps: undoSteps.slice(0, -1),
      });
    },
    applyDraft: () => {
      const { config, edits } = get();
      if (config === undefined) return;
      // JSON is YAML too.
      load({ yaml: JSON.stringify(withEdits(config, edits)), presetId: get().presetId, edited: true });
    },
    dismiss: (id) => set({ notices: get().notices.filter((notice) => notice.id !== id) }),
  };
});

/** Configs name model files relative to where they lie; pasted ones as if they lay among the presets. */
function modelBase(): string {
  return new URL(`${import.meta.env.BASE_URL}presets/`, document.baseURI).href;
}

function withArtifact(
  artifacts: ReadonlyMap<ArtifactId, ArtifactState>,
  id: ArtifactId,
  state: ArtifactState,
): ReadonlyMap<ArtifactId, ArtifactState> {
  const next = new Map(artifacts);
  next.set(id, state);
  if (next.size > MAX_ARTIFACTS) next.delete(next.keys().next().value ?? id);
  return next;
}

function remember(
  steps: readonly UndoStep[],
  field: string,
  config: RunConfig,
  edits: Edits,
): readonly UndoStep[] {
  if (field !== '' && steps.at(-1)?.field === field) return steps;
  return [...steps, { field, config, edits }].slice(-MAX_UNDO);
}
