/**
 * The page's end of the worker: owns the Worker, sends typed commands, and hands messages on. Events are buffered and
 * published at a bounded rate, so that the page draws at most ten times a second however fast the engine is.
 *
 * A load that comes while another one is unanswered is tried in a second worker, which takes the first one's place once
 * it has accepted the config. So a load that hangs cannot hold up the next one, and a config that is refused costs
 * neither the run nor the load under way.
 */
import type { Artifact, ArtifactId, SatEvent } from '../runs/events.ts';
import type { EngineCommand, EngineMessage } from '../worker/protocol.ts';

type Command<T extends EngineCommand['type']> = Extract<EngineCommand, { type: T }>;
type Message<T extends EngineMessage['type']> = Extract<EngineMessage, { type: T }>;

/** Consecutive events with the wall-clock time of each. */
export interface EventBatch {
  readonly events: readonly SatEvent[];
  readonly milliseconds: readonly number[];
}

/** What the page hears from the engine. Events arrive before the message that follows them. */
export interface EngineListener {
  onProgress(progress: Message<'progress'>): void;
  /** A config was accepted: the earlier run waits while the new one is built, unless it `ended` with its worker. */
  onPreparing(load: number, ended: boolean): void;
  onReady(ready: Message<'ready'>): void;
  onEvents(batch: EventBatch): void;
  onIdle(finished: boolean): void;
  onArtifact(id: ArtifactId, artifact: Artifact | undefined): void;
  onFailed(failure: Message<'failed'>): void;
  /** The worker of the run is gone; the next command starts a new one, which knows no run. */
  onDead(reason: string): void;
}

/** A worker, and the load that it has not answered yet. */
interface Host {
  readonly worker: Worker;
  load: number | undefined;
}

/** Milliseconds between publications while events stream in. */
const PUBLISH_EVERY = 100;

export class EngineClient {
  /** Holds the run. */
  private host: Host | undefined;
  /** Tries a load while the host is busy with one. */
  private candidate: Host | undefined;
  private pace = 0;
  private events: SatEvent[] = [];
  private milliseconds: number[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private lastPublished = Number.NEGATIVE_INFINITY;

  constructor(private readonly listener: EngineListener) {}

  /** Whether a load is still to be answered. */
  get loading(): boolean {
    return this.host?.load !== undefined || this.candidate !== undefined;
  }

  /** Of the loads that no engine has accepted yet, only the newest counts. */
  load(command: Command<'load'>): void {
    this.candidate?.worker.terminate();
    this.candidate = undefined;
    let host = this.host;
    if (host === undefined) host = this.host = this.spawn();
    else if (host.load !== undefined) host = this.candidate = this.spawn();
    host.load = command.load;
    host.worker.postMessage(command);
  }

  send(command: Command<'go' | 'pause' | 'artifact'>): void {
    this.host ??= this.spawn();
    this.host.worker.postMessage(command);
  }

  /** Least time from one event to the next, ms; also of workers to come. */
  setPace(milliseconds: number): void {
    this.pace = milliseconds;
    for (const host of [this.host, this.candidate]) {
      host?.worker.postMessage({ type: 'pace', milliseconds } satisfies EngineCommand);
    }
  }

  /** Ends run and loads without waiting for them. */
  terminate(): void {
    this.host?.worker.terminate();
    this.candidate?.worker.terminate();
    this.host = this.candidate = undefined;
    this.publish();
  }

  private spawn(): Host {
    const worker = new Worker(new URL('../worker/engine.worker.ts', import.meta.url), {
      type: 'module',
      name: 'sat engine',
    });
    const host: Host = { worker, load: undefined };
    worker.onmessage = (message: MessageEvent<EngineMessage>) => this.receive(host, message.data);
    worker.onmessageerror = () => this.died(host, 'a message from it could not be read');
    worker.onerror = (error) => {
      error.preventDefault();
      this.died(host, error.message || 'its code could not be loaded');
    };
    if (this.pace > 0) {
      worker.postMessage({ type: 'pace', milliseconds: this.pace } satisfies EngineCommand);
    }
    return host;
  }

  private died(host: Host, reason: string): void {
    host.worker.terminate();
    if (host === this.candidate) {
      this.candidate = undefined;
      const message = `The engine stopped: ${reason}`;
      this.listener.onFailed({ type: 'failed', load: host.load ?? 0, where: 'model', message, issues: [] });
    } else if (host === this.host) {
      this.host = this.candidate;
      this.candidate = undefined;
      this.publish();
      this.listener.onDead(reason);
    }
  }

  /** Lets a candidate that has accepted its load take the host's place, and drops one that has refused it. */
  private settle(host: Host, accepted: boolean): void {
    this.candidate = undefined;
    if (accepted) {
      this.host?.worker.terminate();
      this.host = host;
    } else host.worker.terminate();
  }

  private receive(host: Host, message: EngineMessage): void {
    const isCandidate = host === this.candidate;
    // A worker's last messages can arrive after its end.
    if (host !== this.host && !isCandidate) return;
    if (message.type === 'events') {
      this.collect(message);
      return;
    }
    this.publish();
    switch (message.type) {
      case 'progress':
        this.listener.onProgress(message);
        break;
      case 'preparing':
        if (isCandidate) this.settle(host, true);
        this.listener.onPreparing(message.load, isCandidate);
        break;
      case 'ready':
        host.load = undefined;
        this.listener.onReady(message);
        break;
      case 'idle':
        this.listener.onIdle(message.finished);
        break;
      case 'artifact':
        this.listener.onArtifact(message.id, message.artifact);
        break;
      case 'failed':
        if (isCandidate) this.settle(host, false);
        else if (host.load === message.load) host.load = undefined;
        this.listener.onFailed(message);
        break;
      default:
        message satisfies never;
    }
  }

  private collect(batch: EventBatch): void {
    for (const event of batch.events) this.events.push(event);
    for (const time of batch.milliseconds) this.milliseconds.push(time);
    // Publishes at once after a quiet time, else when the interval is over.
    if (this.timer !== undefined) return;
    const wait = this.lastPublished + PUBLISH_EVERY - performance.now();
    if (wait <= 0) this.publish();
    else this.timer = setTimeout(() => this.publish(), wait);
  }

  private publish(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.events.length === 0) return;
    const batch = { events: this.events, milliseconds: this.milliseconds };
    this.events = [];
    this.milliseconds = [];
    this.lastPublished = performance.now();
    this.listener.onEvents(batch);
  }
}
