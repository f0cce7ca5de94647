/**
 * Holds one run and drives it: answers commands, pulls one event at a time, and lets messages in between micro-steps,
 * so that pause, artifacts and a new load are answered while a run goes.
 */
import { ModelError } from '../policies/modelError.ts';
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
  /** Lets waiting messages be handled. */
  breathe(): Promise<void>;
}

/** One loaded run. */
interface Session {
  readonly run: Run;
  readonly events: AsyncGenerator<SatEvent, void>;
  readonly backends: Backends;
  state: 'open' | 'finished' | 'failed';
}

export class Engine {
  private session: Session | undefined;
  /** How far to go; undefined while waiting. */
  private goal: RunUntil | undefined;
  private driving: Promise<void> | undefined;
  /** Loads one after the other; only the newest counts. */
  private loading: Promise<void> = Promise.resolve();
  private loads = 0;
  private pace = 0;
  /** Ends the wait between paced events. */
  private wake: () => void = () => {};

  constructor(private readonly host: EngineHost) {}

  handle(command: EngineCommand): void {
    switch (command.type) {
      case 'load': {
        const ticket = ++this.loads;
        this.loading = this.loading.then(() => this.load(command, ticket));
        break;
      }
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
        this.host.post({
          type: 'artifact',
          id: command.id,
          artifact: this.session?.run.artifact(command.id),
        });
        break;
      default:
        command satisfies never;
    }
  }

  private stop(): void {
    this.goal = undefined;
    this.wake();
  }

  private postIdle(): void {
    this.host.post({ type: 'idle', finished: this.session?.state === 'finished' });
  }

  private async load(command: Load, ticket: number): Promise<void> {
    const superseded = () => ticket !== this.loads;
    if (superseded()) return;
    try {
      const config = parseConfig(command.yaml);
      const plan = await this.host.plan(command, config);
      if (superseded()) return;
      await this.close();
      this.host.post({ type: 'preparing' });
      await this.build(config, plan, superseded);
    } catch (error) {
      this.host.post(failure(error));
    }
  }

  private async build(config: RunConfig, plan: BackendPlan, superseded: () => boolean): Promise<void> {
    const onProgress = (what: string, done = 0, total = 0) =>
      this.host.post({ type: 'progress', what, done, total });
    const backends = await this.host.open(plan, onProgress);
    let run: Run;
    try {
      run = await createRun(config, { ...backends, onProgress });
    } catch (error) {
      backends.kernels.dispose();
      throw error;
    }
    const session: Session = { run, events: run.events(), backends, state: 'open' };
    this.session = session;
    void backends.kernels.lost.then((reason) => this.fail(session, new Error(reason)));
    if (superseded()) return;
    const { title, meaning, options } = taskDefinition(config.task.name)!;
    this.host.post({
      type: 'ready',
      runName: config.name,
      task: { title, meaning, options },
      agents: run.agents,
      config,
      backend: backends.report,
    });
  }

  /** Ends the run after the micro-step it is in. */
  private async close(): Promise<void> {
    this.stop();
    await this.driving;
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
    this.host.post({ type: 'event', event, milliseconds });
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
    this.host.post(failure(error));
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

function failure(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ConfigError) return { type: 'failed', where: 'config', message, issues: error.issues };
  const where = error instanceof ModelError ? 'model' : 'run';
  return { type: 'failed', where, message, issues: [] };
}
