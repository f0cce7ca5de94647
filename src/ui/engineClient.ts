/**
 * The page's end of the worker: owns the Worker, sends typed commands, and hands messages on. Events are buffered and
 * published at a bounded rate, so that the page draws at most ten times a second however fast the engine is.
 */
import type { Artifact, ArtifactId, SatEvent } from '../runs/events.ts';
import type { EngineCommand, EngineMessage } from '../worker/protocol.ts';

type Message<T extends EngineMessage['type']> = Extract<EngineMessage, { type: T }>;

/** Consecutive events with the wall-clock time of each. */
export interface EventBatch {
  readonly events: readonly SatEvent[];
  readonly milliseconds: readonly number[];
}

/** What the page hears from the engine. Events arrive before the message that follows them. */
export interface EngineListener {
  onProgress(progress: Message<'progress'>): void;
  /** A config was accepted: the earlier run waits while the new one is built. */
  onPreparing(): void;
  onReady(ready: Message<'ready'>): void;
  onEvents(batch: EventBatch): void;
  onIdle(finished: boolean): void;
  onArtifact(id: ArtifactId, artifact: Artifact | undefined): void;
  onFailed(failure: Message<'failed'>): void;
  /** The worker is gone; the next command starts a new one, which knows no run. */
  onDead(reason: string): void;
}

/** Milliseconds between publications while events stream in. */
const PUBLISH_EVERY = 100;

export class EngineClient {
  private worker: Worker | undefined;
  private events: SatEvent[] = [];
  private milliseconds: number[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private lastPublished = Number.NEGATIVE_INFINITY;

  constructor(private readonly listener: EngineListener) {}

  send(command: EngineCommand): void {
    this.worker ??= this.spawn();
    this.worker.postMessage(command);
  }

  /** Ends the worker, run and all, without waiting for it. */
  terminate(): void {
    this.worker?.terminate();
    this.worker = undefined;
    this.publish();
  }

  private spawn(): Worker {
    const worker = new Worker(new URL('../worker/engine.worker.ts', import.meta.url), {
      type: 'module',
      name: 'sat engine',
    });
    worker.onmessage = (message: MessageEvent<EngineMessage>) => this.receive(message.data);
    worker.onmessageerror = () => this.died('a message from it could not be read');
    worker.onerror = (error) => {
      error.preventDefault();
      this.died(error.message || 'its code could not be loaded');
    };
    return worker;
  }

  private died(reason: string): void {
    this.terminate();
    this.listener.onDead(reason);
  }

  private receive(message: EngineMessage): void {
    if (message.type === 'events') {
      for (const event of message.events) this.events.push(event);
      for (const time of message.milliseconds) this.milliseconds.push(time);
      this.schedule();
      return;
    }
    this.publish();
    switch (message.type) {
      case 'progress':
        this.listener.onProgress(message);
        break;
      case 'preparing':
        this.listener.onPreparing();
        break;
      case 'ready':
        this.listener.onReady(message);
        break;
      case 'idle':
        this.listener.onIdle(message.finished);
        break;
      case 'artifact':
        this.listener.onArtifact(message.id, message.artifact);
        break;
      case 'failed':
        this.listener.onFailed(message);
        break;
      default:
        message satisfies never;
    }
  }

  /** Publishes at once after a quiet time, else when the interval is over. */
  private schedule(): void {
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
