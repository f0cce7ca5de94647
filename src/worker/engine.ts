/**
 * Holds one run and drives it: answers commands, pulls one event at a time, and lets messages in between micro-steps,
 * so that pause, artifacts and a new load are answered while a run goes.
 */
import { parseConfig, type RunConfig } from '../runs/config.ts';
import { ConfigError } from '../runs/configError.ts';
import type { SatEvent } from '../runs/events.ts';
import { createRun } from '../sat/createRun.ts';
import type { Run } from '../sat/run.ts';
import { taskDefinition } from '../tasks/index.ts';
import type { BackendPlan, Backends } from './backends.ts';
import type { EngineCommand, EngineMessage, RunUntil } from './protocol.ts';

type Load = Extract<EngineCommand, { type: 'load' }>;
type Failure = Extract<EngineMessage, { type: 'failed' }>;

/** What the engine needs of the worker it is in. */
export interface EngineHost {
  post(message: EngineMessage): void;
  /** @throws {ConfigError} if a forced backend is impossible. */
  plan(load: Load, config: RunConfig): Promise<BackendPlan>;
  open(plan: BackendPlan, onProgress: (what: string) => void): Promise<Backends>;
  /** @throws {ConfigError} if there is no such file. */
  readModel(path: string, base: string): Promise<Uint8Array>;
  /** Lets waiting messages be handled. */
  breathe(): Promise<void>;
}

/** One loaded run. */
interface Session {
  /** The number of its load. */
  readonly load: number;
  readonly run: Run;
  readonly events: AsyncGenerator<SatEvent, void>;
  readonly backends: Backends;
  state: 'open' | 'finished' | 'failed';
}

/** Events of fast micro-steps travel together: a message of its own for each would keep the page busy. */
const BATCH_MILLISECONDS = 25;

export class Engine {
  private batch: { events: SatEvent[]; milliseconds: number[] } = { events: [], milliseconds: [] };
  private lastFlush = Number.NEGATIVE_INFINITY;
  private session: Session | undefined;
  /** How far to go; undefined while waiting. */
  private goal: RunUntil | undefined;
  private driving: Promise<void> | undefined;
  /** Loads one after the other; only the newest counts. */
  private loading: Promise<void> = Promise.resolve();
  private newestLoad = 0;
  private pace = 0;
  /** Ends the wait between paced events. */
  private wake: () => void = () => {};

  constructor(private readonly host: EngineHost) {}

  handle(command: EngineCommand): void {
    switch (command.type) {
      case 'load':
        this.newestLoad = command.load;
        this.loading = this.loading.then(() => this.load(command));
        break;
      case 'go':
        this.go(command.until);
        break;
      case 'pause':
        if (this.driving === undefined) this.postIdle();
        this.stop();
        break;
      case 'pace':
        this.pace = command.milliseconds;
        this.wake();
        break;
      case 'artifact':
        this.post({
          type: 'artifact',
          id: command.id,
          artifact: this.session?.run.artifact(command.id),
        });
        break;
      default:
        command satisfies never;
    }
  }

  private post(message: EngineMessage): void {
    this.flush();
    this.host.post(message);
  }

  private flush(): void {
    if (this.batch.events.length === 0) return;
    this.host.post({ type: 'events', ...this.batch });
    this.batch = { events: [], milliseconds: [] };
    this.lastFlush = performance.now();
  }

  private stop(): void {
    this.goal = undefined;
    this.wake();
  }

  private postIdle(): void {
    this.post({ type: 'idle', finished: this.session?.state === 'finished' });
  }

  private async load(command: Load): Promise<void> {
    const { load } = command;
    if (load !== this.newestLoad) return;
    let interrupted = false;
    try {
      const config = parseConfig(command.yaml);
      const plan = await this.host.plan(command, config);
      // Models of two runs must not compute at once; a run that was going waits at this micro-step.
      interrupted = true;
      this.stop();
      await this.driving;
      this.post({ type: 'preparing', load });
      const session = await this.build(config, plan, command);
      await this.close();
      this.begin(session);
    } catch (error) {
      this.post(failure(error, load, 'model'));
      if (interrupted && this.session !== undefined && this.session.state !== 'failed') this.postIdle();
    }
  }

  private async build(config: RunConfig, plan: BackendPlan, { load, base }: Load): Promise<Session> {
    const onProgress = (what: string, done = 0, total = 0) =>
      this.post({ type: 'progress', what, done, total });
    const backends = await this.host.open(plan, onProgress);
    try {
      const readModel = (path: string) => this.host.readModel(path, base);
      const run = await createRun(config, { ...backends, readModel, onProgress });
      return { load, run, events: run.events(), backends, state: 'open' };
    } catch (error) {
      backends.kernels.dispose();
      throw error;
    }
  }

  private begin(session: Session): void {
    this.session = session;
    const { run, backends } = session;
    void backends.kernels.lost.then((reason) => this.fail(session, new Error(reason)));
    const { title, meaning, options } = taskDefinition(run.config.task.name)!;
    this.post({
      type: 'ready',
      load: session.load,
      runName: run.config.name,
      task: { title, meaning, options },
      agents: run.agents,
      config: run.config,
      backend: backends.report,
    });
  }

  private async close(): Promise<void> {
    const { session } = this;
    this.session = undefined;
    if (session === undefined) return;
    await session.run.dispose();
    session.backends.kernels.dispose();
  }

  private go(until: RunUntil): void {
    const { session } = this;
    if (session?.state !== 'open') {
      this.postIdle();
      return;
    }
    this.goal = until;
    this.driving ??= this.drive(session).finally(() => {
      this.driving = undefined;
    });
  }

  private async drive(session: Session): Promise<void> {
    try {
      while (this.goal !== undefined && session.state === 'open') {
        await this.microStep(session);
        await this.rest();
      }
      if (session.state !== 'failed') this.postIdle();
    } catch (error) {
      this.fail(session, error);
    }
  }

  private async microStep(session: Session): Promise<void> {
    const started = performance.now();
    const next = await session.events.next();
    const milliseconds = performance.now() - started;
    // The generator can lose its device between its last await and here; `fail` has spoken then.
    if (session.state !== 'open') return;
    if (next.done) {
      session.state = 'finished';
      return;
    }
    const event = next.value;
    this.batch.events.push(event);
    this.batch.milliseconds.push(milliseconds);
    if (this.pace > 0 || performance.now() - this.lastFlush > BATCH_MILLISECONDS) this.flush();
    const isLast = event.kind === 'stageEnd' && event.stage === session.run.config.stages - 1;
    if (isLast) session.state = 'finished';
    if (this.goal !== undefined && isReached(this.goal, event)) this.goal = undefined;
  }

  /** Lets messages in, and waits for the pace of someone who watches. */
  private async rest(): Promise<void> {
    await this.host.breathe();
    if (this.pace === 0 || this.goal === undefined) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.pace);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private fail(session: Session, error: unknown): void {
    if (this.session !== session || session.state === 'failed') return;
    session.state = 'failed';
    this.post(failure(error, session.load, 'run'));
  }
}

/** Whether a `go` ends with this event. Every agent update ends with its certificate. */
export function isReached(goal: RunUntil, event: SatEvent): boolean {
  switch (goal) {
    case 'event':
      return true;
    case 'agent':
      return event.kind === 'stageEnd' || (event.kind === 'certificate' && event.scope === 'update');
    case 'stage':
      return event.kind === 'stageEnd';
    case 'end':
      return false;
  }
}

/** `otherwise`: where an error belongs that is not the config's. */
function failure(error: unknown, load: number, otherwise: 'model' | 'run'): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ConfigError) {
    return { type: 'failed', load, where: 'config', message, issues: error.issues };
  }
  return { type: 'failed', load, where: otherwise, message, issues: [] };
}
