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
import { ConfigError } from '../runs/configError.ts';
import type { ArtifactId, SatEvent } from '../runs/events.ts';
import type { AppState, ArtifactState, UndoStep } from './appState.ts';
import { lengthIssue, readConfigFile } from './configText.ts';
import { changed, configFields, type Edits, editsTowards, withEdits } from './draft.ts';
import { EngineClient, type EngineListener } from './engineClient.ts';
import type { Notice } from './notices.ts';
import { fetchPreset } from './presets.ts';

/** Artifacts kept in the page. */
const MAX_ARTIFACTS = 128;
const MAX_UNDO = 100;

const CANNOT_RUN = 'This config cannot run.';
const NOTHING_CHANGED = 'Nothing was changed.';
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
  /** Numbers everything that the user asks to load. The newest wins, except that what is refused counts for nothing. */
  let choices = 0;
  /** The choice whose preset is being downloaded. */
  let download: number | undefined;
  /** The newest load, until it is accepted or refused. */
  let asked: number | undefined;
  /** What the loads under way load. */
  const sources = new Map<number, Source>();
  /** For Reset: what the run on screen was loaded from; before any run, what was asked for first. */
  let origin: Source | undefined;
  let firstPreset = '';
  /** The load for which the run on screen had to end before it was ready. */
  let endedFor: number | undefined;

  const notify = (title: string, message: string, issues: Notice['issues'] = []) => {
    const notice: Notice = { id: noticeCount++, title, message, issues };
    set({ notices: [...get().notices, notice] });
  };

  const listener: EngineListener = {
    onProgress: ({ what, done, total }) => set({ progress: { what, done, total } }),
    onPreparing: (load, ended) => {
      if (asked === load) asked = undefined;
      if (download !== undefined && download < load) download = undefined;
      if (ended) endedFor = load;
      set({ status: 'preparing', progress: undefined, pausing: false });
    },
    onReady: ({ load, runName, task, agents, config, backend }) => {
      const source = sources.get(load);
      for (const older of sources.keys()) if (older <= load) sources.delete(older);
      if (source !== undefined) origin = source;
      log = { events: [], milliseconds: [] };
      const undoSteps = source?.edited ? get().undoSteps : [];
      set({ ...emptyRun, ...log, status: 'idle', presetId: source?.presetId, undoSteps });
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
    onFailed: ({ load, where, message, issues }) => {
      if (where === 'run') {
        set({ status: 'failed', pausing: false, progress: undefined });
        notify('The run stopped.', `${message} ${HOW_TO_RESUME}`, issues);
        return;
      }
      if (asked === load) asked = undefined;
      sources.delete(load);
      // `idle` follows if the earlier run can go on.
      failUnlessBusy();
      const title = where === 'config' ? CANNOT_RUN : 'This team cannot be built.';
      const hadRun = load === endedFor && get().config !== undefined;
      const rest = hadRun ? 'The earlier run was stopped for it; Reset starts that again.' : NOTHING_CHANGED;
      notify(`${title} ${rest}`, issues.length > 0 ? '' : message, issues);
    },
    onDead: (reason) => {
      if (!engine.loading) asked = undefined;
      set({ status: 'failed', pausing: false, progress: undefined });
      notify('The engine stopped.', `${reason}. ${HOW_TO_RESUME}`);
    },
  };
  const engine = new EngineClient(listener);

  /** After a choice that came to nothing: there is no run to wait for, unless something else is under way. */
  const failUnlessBusy = () => {
    const { status } = get();
    if (engine.loading || download !== undefined || (status !== 'loading' && status !== 'preparing')) return;
    set({ status: 'failed', pausing: false, progress: undefined });
  };

  const load = (source: Source, choice = ++choices) => {
    asked = choice;
    sources.set(choice, source);
    origin ??= source;
    engine.load({
      type: 'load',
      load: choice,
      yaml: source.yaml,
      base: modelBase(),
      backends: get().backends,
    });
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
      firstPreset = presetId;
      void get().loadPreset(presetId);
    },
    loadPreset: async (id) => {
      const choice = ++choices;
      download = choice;
      try {
        const yaml = await fetchPreset(id);
        if (download !== choice) return;
        download = undefined;
        if (asked === undefined || asked < choice) load({ yaml, presetId: id }, choice);
      } catch (error) {
        if (download !== choice) return;
        download = undefined;
        failUnlessBusy();
        notify('The preset could not be loaded.', error instanceof Error ? error.message : String(error));
      }
    },
    loadConfig: (yaml) => {
      const tooLong = lengthIssue(yaml.length);
      if (tooLong === undefined) load({ yaml, presetId: undefined });
      else notify(`${CANNOT_RUN} ${NOTHING_CHANGED}`, '', [tooLong]);
    },
    loadConfigFile: async (file) => {
      try {
        get().loadConfig(await readConfigFile(file));
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        notify(`${CANNOT_RUN} ${NOTHING_CHANGED}`, '', error.issues);
      }
    },
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
      if (origin !== undefined) load(origin);
      else void get().loadPreset(firstPreset);
    },
    setPace: (milliseconds) => {
      set({ pace: milliseconds });
      engine.setPace(milliseconds);
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
