import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { RunConfig } from '../runs/config.ts';
import type { SatEvent } from '../runs/events.ts';
import { stageLogLine } from '../runs/stageLog.ts';
import { UsageError } from './usage.ts';

/**
 * The files of a run. Every line is written before the run goes on, so a run that is stopped or killed leaves all its
 * finished micro-steps behind, as whole lines; and what a summary does not need is forgotten.
 */
export class RunLog {
  private readonly events: number;
  private readonly stages: number;
  private stage: SatEvent[] = [];
  /** The events that a summary of the run is made of. */
  readonly kept: SatEvent[] = [];

  /** @throws {UsageError} if the folder or a file in it cannot be written. */
  constructor(
    folder: string,
    private readonly config: RunConfig,
  ) {
    try {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'config.yaml'), stringify(config));
      this.events = openSync(join(folder, 'events.jsonl'), 'w');
      this.stages = openSync(join(folder, 'stage_log.jsonl'), 'w');
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new UsageError(`--out: given ${folder}, which cannot be written (${reason}); allowed: a folder`);
    }
  }

  add(event: SatEvent): void {
    writeLine(this.events, event);
    this.stage.push(event);
    if (event.kind === 'stageStart' || event.kind === 'promote' || event.kind === 'certificate')
      this.kept.push(event);
    if (event.kind !== 'stageEnd') return;
    this.kept.push(event);
    writeLine(this.stages, stageLogLine(this.stage, event.stage, this.config));
    this.stage = [];
  }

  close(): void {
    closeSync(this.events);
    closeSync(this.stages);
  }
}

/** One call writes the whole line: `writeSync` may write less than asked, so it is repeated until nothing is left. */
function writeLine(file: number, value: unknown): void {
  let rest = Buffer.from(`${JSON.stringify(value)}\n`);
  while (rest.length > 0) rest = rest.subarray(writeSync(file, rest));
}
