import type { Kernels } from '../../src/kernels/kernels.ts';
import { validateConfig } from '../../src/runs/config.ts';
import type { SatEvent } from '../../src/runs/events.ts';
import { createRun } from '../../src/sat/createRun.ts';
import type { Run } from '../../src/sat/run.ts';

/** Builds a run of a team that needs no ONNX runtime. */
export function tabularRun(config: unknown, kernels: Kernels): Promise<Run> {
  return createRun(validateConfig(config), {
    kernels,
    modelRuntime: () => Promise.reject(new Error('this team needs no models')),
    readModel: () => Promise.reject(new Error('this team reads no files')),
  });
}

/** Every event of a run. */
export async function collect(run: Run): Promise<SatEvent[]> {
  const events: SatEvent[] = [];
  for await (const event of run.events()) events.push(event);
  return events;
}

/** The events of one kind. */
export function ofKind<K extends SatEvent['kind']>(
  events: readonly SatEvent[],
  kind: K,
): Extract<SatEvent, { kind: K }>[] {
  return events.filter((event): event is Extract<SatEvent, { kind: K }> => event.kind === kind);
}
