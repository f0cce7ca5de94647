import type { Page } from '@playwright/test';

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly args?: { readonly name?: string };
  /** CPU time on its thread, microseconds. */
  readonly tdur?: number;
}

/**
 * CPU time of every task on the page's main thread while `milliseconds` pass, in ms, longest first. CPU time, not time
 * on the clock: on a busy machine a thread also waits for its turn.
 */
export async function mainThreadTasks(page: Page, milliseconds: number): Promise<number[]> {
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => {
    for (const event of value) {
      if (isTraceEvent(event)) events.push(event);
    }
  });
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['disabled-by-default-devtools.timeline', '__metadata'] },
  });
  await page.waitForTimeout(milliseconds);
  const complete = new Promise<void>((resolve) => session.once('Tracing.tracingComplete', () => resolve()));
  await session.send('Tracing.end');
  await complete;
  await session.detach();
  const thread = ({ pid, tid }: TraceEvent) => `${pid}/${tid}`;
  const mains = new Set(
    events
      .filter((event) => event.name === 'thread_name' && event.args?.name === 'CrRendererMain')
      .map(thread),
  );
  const tasks = events.filter((event) => event.name === 'RunTask' && mains.has(thread(event)));
  if (tasks.length === 0) throw new Error('the trace holds no task of a main thread');
  return tasks.map((task) => (task.tdur ?? 0) / 1000).sort((a, b) => b - a);
}

function isTraceEvent(value: object): value is TraceEvent {
  return 'name' in value && 'pid' in value && 'tid' in value;
}
