import { describe, expect, test } from 'vitest';
import { createCpuKernels } from '../kernels/cpu/index.ts';
import { ConfigError } from '../runs/configError.ts';
import type { SatEvent } from '../runs/events.ts';
import { Engine, type EngineHost } from './engine.ts';
import type { EngineMessage } from './protocol.ts';

const doorway = (stages = 2, name = 'door') => `
name: ${name}
stages: ${stages}
task: {name: doorway, agents: 2}
sat: {advantages: exact, order: static, gamma: 0.05, temperature: 1}
optimiser: {lr: 0.1}
`;

const base = 'http://localhost/presets/';
const auto = { models: 'auto', kernels: 'auto' } as const;
const report = { kernels: 'cpu', kernelsWhy: 'a test', device: 'CPU' } as const;

/** An engine on cpu kernels whose messages are recorded; `until` resolves with the next message of a type. */
function engineForTest(overrides: Partial<EngineHost> = {}) {
  const messages: EngineMessage[] = [];
  const waiting: { type: EngineMessage['type']; resolve: () => void }[] = [];
  let lose: (reason: string) => void = () => {};
  let loads = 0;
  const engine = new Engine({
    post: (message) => {
      messages.push(structuredClone(message));
      const index = waiting.findIndex((entry) => entry.type === message.type);
      if (index >= 0) waiting.splice(index, 1)[0]!.resolve();
    },
    plan: async () => ({ choice: auto, report }),
    open: async () => {
      const lost = new Promise<string>((resolve) => {
        lose = resolve;
      });
      const kernels = Object.assign(createCpuKernels(), { lost });
      return { kernels, report, modelRuntime: () => Promise.reject(new Error('no models here')) };
    },
    readModel: () => Promise.reject(new Error('no files here')),
    breathe: () => new Promise((resolve) => setTimeout(resolve, 0)),
    ...overrides,
  });
  return {
    engine,
    messages,
    /** Sends a load, numbered from 1. */
    load: (yaml: string) => engine.handle({ type: 'load', load: ++loads, yaml, base, backends: auto }),
    lose: (reason: string) => lose(reason),
    until: (type: EngineMessage['type']) =>
      new Promise<void>((resolve) => {
        waiting.push({ type, resolve });
      }),
    events: (): SatEvent[] =>
      messages.flatMap((message) => (message.type === 'events' ? message.events : [])),
  };
}

async function loaded(overrides: Partial<EngineHost> = {}, yaml = doorway()) {
  const test = engineForTest(overrides);
  const ready = test.until('ready');
  test.load(yaml);
  await ready;
  return test;
}

describe('going', () => {
  test('one event, one agent, one stage, the whole run', async () => {
    const { engine, until, events, messages } = await loaded();
    const go = async (goal: 'event' | 'agent' | 'stage' | 'end') => {
      const idle = until('idle');
      engine.handle({ type: 'go', until: goal });
      await idle;
      return events().at(-1)!;
    };
    expect((await go('event')).kind).toBe('stageStart');
    expect(events()).toHaveLength(1);
    expect(await go('agent')).toMatchObject({ kind: 'certificate', scope: 'update', agent: 0 });
    expect(await go('agent')).toMatchObject({ kind: 'certificate', scope: 'update', agent: 1 });
    // No agent is left in the stage, so "next agent" ends with it.
    expect(await go('agent')).toMatchObject({ kind: 'stageEnd', stage: 0 });
    expect(await go('stage')).toMatchObject({ kind: 'stageEnd', stage: 1 });
    expect(messages.at(-1)).toEqual({ type: 'idle', finished: true });
    const count = events().length;
    await go('end');
    expect(events()).toHaveLength(count);
    expect(events().map((event) => event.seq)).toEqual(Array.from({ length: count }, (_, i) => i));
  });

  test('pause stops after the micro-step under way', async () => {
    const { engine, until, events } = await loaded({}, doorway(5000));
    const first = until('events');
    const idle = until('idle');
    engine.handle({ type: 'go', until: 'end' });
    await first;
    engine.handle({ type: 'pause' });
    await idle;
    const count = events().length;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(events()).toHaveLength(count);
    expect(count).toBeLessThan(5);
  });

  test('pause ends the wait of a slow pace', async () => {
    const { engine, until, events } = await loaded({}, doorway(50));
    engine.handle({ type: 'pace', milliseconds: 60_000 });
    const first = until('events');
    engine.handle({ type: 'go', until: 'end' });
    await first;
    await new Promise((resolve) => setTimeout(resolve, 20));
    const started = performance.now();
    const idle = until('idle');
    engine.handle({ type: 'pause' });
    await idle;
    expect(performance.now() - started).toBeLessThan(100);
    expect(events()).toHaveLength(1);
  });
});

describe('loading', () => {
  test('a bad config names the field and leaves the run as it was', async () => {
    const { engine, load, until, events, messages } = await loaded();
    const step = until('idle');
    engine.handle({ type: 'go', until: 'event' });
    await step;
    const failed = until('failed');
    load('task: {name: doorway}\nsat: {delta: -1, epsilom: 0.1}');
    await failed;
    const failure = messages.at(-1)!;
    if (failure.type !== 'failed') throw new Error(failure.type);
    expect(failure).toMatchObject({ load: 2, where: 'config' });
    expect(failure.issues.map((issue) => issue.field).sort()).toEqual(['sat.delta', 'sat.epsilom']);
    const stage = until('idle');
    engine.handle({ type: 'go', until: 'stage' });
    await stage;
    expect(events().at(-1)).toMatchObject({ kind: 'stageEnd', stage: 0 });
  });

  test('a backend that is impossible leaves the run as it was', async () => {
    let allowed = true;
    const { engine, load, until, messages } = await loaded({
      plan: async () => {
        if (allowed) return { choice: auto, report };
        throw new ConfigError([{ field: 'kernels', given: 'webgpu', allowed: 'cpu or auto here' }]);
      },
    });
    allowed = false;
    const failed = until('failed');
    load(doorway());
    await failed;
    expect(messages.at(-1)).toMatchObject({
      where: 'config',
      issues: [{ field: 'kernels', given: 'webgpu' }],
    });
    const step = until('idle');
    engine.handle({ type: 'go', until: 'event' });
    await step;
    expect(messages.at(-1)).toEqual({ type: 'idle', finished: false });
  });

  test('a team that cannot be built leaves the run as it was', async () => {
    let broken = false;
    const { engine, load, until, messages, events } = await loaded({
      open: async () => {
        if (broken) throw new Error('out of memory');
        return { kernels: createCpuKernels(), report, modelRuntime: () => Promise.reject(new Error('none')) };
      },
    });
    const go = async () => {
      const idle = until('idle');
      engine.handle({ type: 'go', until: 'event' });
      await idle;
    };
    await go();
    broken = true;
    const idle = until('idle');
    load(doorway());
    await idle;
    expect(messages.slice(-3)).toEqual([
      { type: 'preparing', load: 2 },
      { type: 'failed', load: 2, where: 'model', message: 'out of memory', issues: [] },
      { type: 'idle', finished: false },
    ]);
    await go();
    expect(events().map((event) => event.kind)).toEqual(['stageStart', 'rollout']);
  });

  test('of several loads at once the last one counts, and it replaces a run that goes', async () => {
    const { engine, load, until, messages, events } = await loaded({}, doorway(5000));
    const first = until('events');
    engine.handle({ type: 'go', until: 'end' });
    await first;
    const replaced = until('ready');
    load(doorway(2, 'skipped'));
    load(doorway(2, 'kept'));
    await replaced;
    const ready = messages.flatMap((message) =>
      message.type === 'ready' ? [[message.load, message.runName]] : [],
    );
    expect(ready).toEqual([
      [1, 'door'],
      [3, 'kept'],
    ]);
    const before = events().length;
    const step = until('idle');
    engine.handle({ type: 'go', until: 'event' });
    await step;
    expect(events()).toHaveLength(before + 1);
    expect(events().at(-1)).toMatchObject({ seq: 0, kind: 'stageStart' });
  });
});

test('a lost device fails the run once, and the engine goes no further', async () => {
  const { engine, until, messages, events, lose } = await loaded();
  const failed = until('failed');
  lose('GPU device lost (unknown): memory');
  await failed;
  expect(messages.at(-1)).toMatchObject({
    where: 'run',
    load: 1,
    message: 'GPU device lost (unknown): memory',
  });
  const idle = until('idle');
  engine.handle({ type: 'go', until: 'stage' });
  await idle;
  expect(events()).toHaveLength(0);
});

test('artifacts of the run are fetched by id; unknown ids answer with nothing', async () => {
  const { engine, until, events, messages } = await loaded();
  const idle = until('idle');
  engine.handle({ type: 'go', until: 'agent' });
  await idle;
  const promote = events().find((event) => event.kind === 'promote')!;
  engine.handle({ type: 'artifact', id: promote.policy });
  const answer = messages.at(-1)!;
  if (answer.type !== 'artifact' || answer.artifact?.kind !== 'policy') throw new Error('no policy');
  expect(answer.artifact.actions).toEqual(['wait', 'go']);
  expect(answer.artifact.after[0]! + answer.artifact.after[1]!).toBeCloseTo(1, 12);
  engine.handle({ type: 'artifact', id: 'none' });
  expect(messages.at(-1)).toEqual({ type: 'artifact', id: 'none', artifact: undefined });
});
