import { beforeEach, expect, test, vi } from 'vitest';
import { MAX_CONFIG_CHARACTERS } from '../runs/configError.ts';
import type { EngineCommand, EngineMessage } from '../worker/protocol.ts';

/** Stands in for the browser's Worker: keeps what the page sends, and answers what a test tells it to. */
class FakeWorker {
  static all: FakeWorker[] = [];
  readonly commands: EngineCommand[] = [];
  alive = true;
  onmessage: ((message: { data: EngineMessage }) => void) | undefined;
  onerror: ((error: { message: string; preventDefault(): void }) => void) | undefined;

  constructor() {
    FakeWorker.all.push(this);
  }
  postMessage(command: EngineCommand): void {
    this.commands.push(command);
  }
  terminate(): void {
    this.alive = false;
  }
  say(message: EngineMessage): void {
    this.onmessage?.({ data: message });
  }
  crash(message: string): void {
    this.onerror?.({ message, preventDefault: () => {} });
  }

  /** The newest load: its number and text. */
  get asked(): { load: number; yaml: string } {
    const load = this.commands.findLast((command) => command.type === 'load');
    if (load === undefined) throw new Error('nothing was loaded');
    return load;
  }
  /** Accepts the newest load. */
  prepare(): void {
    this.say({ type: 'preparing', load: this.asked.load });
  }
  /** Accepts and builds the newest load. */
  build(): void {
    this.prepare();
    this.finish();
  }
  finish(): void {
    const { load, yaml } = this.asked;
    this.say({
      type: 'ready',
      load,
      runName: yaml,
      task: { title: '', meaning: '', options: [] },
      agents: [],
      // The store hands the config through without looking into it.
      config: { name: yaml } as never,
      backend: { kernels: 'cpu', kernelsWhy: 'a test', device: 'CPU' },
    });
  }
  refuse(): void {
    const issues = [{ field: 'nope', given: 'an unknown key', allowed: 'keys here: task' }];
    this.say({ type: 'failed', load: this.asked.load, where: 'config', message: 'nope', issues });
  }
  failToBuild(): void {
    this.say({
      type: 'failed',
      load: this.asked.load,
      where: 'model',
      message: 'no memory',
      issues: [],
    });
  }
}

const auto = { models: 'auto', kernels: 'auto' } as const;
/** Lets a download arrive; without it, it stays under way. */
let downloads: Map<string, () => void>;

beforeEach(() => {
  FakeWorker.all = [];
  downloads = new Map();
  vi.resetModules();
  vi.stubGlobal('Worker', FakeWorker);
  vi.stubGlobal('document', { baseURI: 'http://localhost/' });
  vi.stubGlobal('fetch', (url: string) => {
    const name = /(\w+)\.yaml$/.exec(url)?.[1] ?? url;
    return new Promise((resolve) => downloads.set(name, () => resolve(new Response(name))));
  });
});

async function arrive(name: string): Promise<void> {
  downloads.get(name)?.();
  await new Promise((resolve) => setTimeout(resolve));
}

/** A page whose first preset, doorway, is on screen; `worker(0)` runs it. */
async function openPage() {
  const { useApp } = await import('./store.ts');
  const page = () => useApp.getState();
  page().start('doorway', auto, []);
  await arrive('doorway');
  const worker = (index: number) => {
    const found = FakeWorker.all[index];
    if (found === undefined) throw new Error(`there are ${FakeWorker.all.length} workers`);
    return found;
  };
  worker(0).build();
  expect(page()).toMatchObject({ status: 'idle', runName: 'doorway', presetId: 'doorway' });
  const choose = async (id: string) => {
    void page().loadPreset(id);
    await arrive(id);
  };
  return { page, worker, choose };
}

test('a config refused while a team is built costs neither that team nor what Reset goes back to', async () => {
  const { page, worker, choose } = await openPage();
  await choose('sum');
  worker(0).prepare();
  page().loadConfig('bad');
  worker(1).refuse();
  expect(worker(1).alive).toBe(false);
  expect(page().status).toBe('preparing');
  expect(page().notices.map((notice) => notice.title)).toEqual([
    'This config cannot run. Nothing was changed.',
  ]);
  worker(0).finish();
  expect(page()).toMatchObject({ status: 'idle', runName: 'sum', presetId: 'sum' });
  page().reset();
  expect(worker(0).asked.yaml).toBe('sum');
});

test('a build that hangs gives way to a later config and to Reset', async () => {
  const { page, worker } = await openPage();
  page().loadConfig('hangs');
  worker(0).prepare();
  page().loadConfig('good');
  expect(worker(0).alive).toBe(true);
  worker(1).prepare();
  expect(worker(0).alive).toBe(false);
  worker(0).finish();
  expect(page()).toMatchObject({ status: 'preparing', runName: 'doorway' });
  worker(1).finish();
  expect(page()).toMatchObject({ status: 'idle', runName: 'good', presetId: undefined });

  page().loadConfig('hangs again');
  worker(1).prepare();
  page().reset();
  expect(worker(2).asked.yaml).toBe('good');
  worker(2).build();
  expect(worker(1).alive).toBe(false);
  expect(page()).toMatchObject({ status: 'idle', runName: 'good' });
});

test('of three configs at once only the newest is tried beside the one under way', async () => {
  const { page, worker } = await openPage();
  page().loadConfig('first');
  page().loadConfig('second');
  page().loadConfig('third');
  expect([0, 1, 2].map((index) => worker(index).alive)).toEqual([true, false, true]);
  worker(2).build();
  expect([0, 1, 2].map((index) => worker(index).alive)).toEqual([false, false, true]);
  expect(page().runName).toBe('third');
});

test('a run that had to end for a team that then fails is not said to be there', async () => {
  const { page, worker } = await openPage();
  page().loadConfig('hangs');
  worker(0).prepare();
  page().loadConfig('too large');
  worker(1).prepare();
  worker(1).failToBuild();
  expect(page().status).toBe('failed');
  expect(page().notices.at(-1)?.title).toBe(
    'This team cannot be built. The earlier run was stopped for it; Reset starts that again.',
  );
  page().reset();
  expect(worker(2).asked.yaml).toBe('doorway');
});

test('a team that fails where the run is leaves the run', async () => {
  const { page, worker } = await openPage();
  page().loadConfig('too large');
  worker(0).prepare();
  worker(0).failToBuild();
  worker(0).say({ type: 'idle', finished: false });
  expect(page()).toMatchObject({ status: 'idle', runName: 'doorway' });
  expect(page().notices.at(-1)?.title).toBe('This team cannot be built. Nothing was changed.');
  expect(FakeWorker.all).toHaveLength(1);
});

test('a download that is slow does not override a later choice, and one refused does not stop it', async () => {
  const { page, worker } = await openPage();
  void page().loadPreset('sum');
  page().loadConfig('own');
  worker(0).build();
  await arrive('sum');
  expect(worker(0).asked.yaml).toBe('own');

  void page().loadPreset('sum');
  void page().loadPreset('penalty');
  await arrive('penalty');
  await arrive('sum');
  expect(worker(0).asked.yaml).toBe('penalty');
  worker(0).build();

  void page().loadPreset('sum');
  page().loadConfig('bad');
  worker(0).refuse();
  await arrive('sum');
  expect(worker(0).asked.yaml).toBe('sum');
});

test('before any run, Reset asks again for what the address asked for', async () => {
  const { useApp } = await import('./store.ts');
  const page = () => useApp.getState();
  page().start('unheard-of', auto, []);
  await vi.waitFor(() => expect(page().status).toBe('failed'));
  page().reset();
  await vi.waitFor(() => expect(page().notices).toHaveLength(2));
  page().start('sum', auto, []);
  await arrive('sum');
  const worker = FakeWorker.all[0];
  worker?.refuse();
  expect(page().status).toBe('failed');
  page().loadConfig('bad');
  worker?.refuse();
  page().reset();
  expect(FakeWorker.all[1]?.asked.yaml).toBe('sum');
});

test('a worker that dies over a second load is a failed load; the run stays', async () => {
  const { page, worker } = await openPage();
  page().loadConfig('first');
  worker(0).prepare();
  page().loadConfig('second');
  worker(1).crash('out of memory');
  expect(page().notices.at(-1)?.message).toBe('The engine stopped: out of memory');
  worker(0).finish();
  expect(page()).toMatchObject({ status: 'idle', runName: 'first' });
});

test('a worker takes over the pace that was set before it was there', async () => {
  const { page, worker } = await openPage();
  page().setPace(500);
  page().loadConfig('first');
  page().loadConfig('second');
  expect(worker(1).commands[0]).toEqual({ type: 'pace', milliseconds: 500 });
});

test('a text too long to be a config is refused before it is read through', async () => {
  const { page, worker } = await openPage();
  const { length } = worker(0).commands;
  page().loadConfig('#'.repeat(MAX_CONFIG_CHARACTERS + 1));
  const issue = { field: 'config', given: '200001 characters', allowed: 'at most 200000 characters' };
  expect(page().notices.at(-1)?.issues).toEqual([issue]);
  await page().loadConfigFile(new File(['#'.repeat(700_000)], 'huge.yaml'));
  expect(page().notices.at(-1)?.issues).toEqual([{ ...issue, given: 'huge.yaml, 700000 bytes' }]);
  await page().loadConfigFile(new File(['#'.repeat(MAX_CONFIG_CHARACTERS + 1)], 'long.yaml'));
  expect(page().notices.at(-1)?.issues).toEqual([issue]);
  expect(worker(0).commands).toHaveLength(length);
  await page().loadConfigFile(new File(['#'.repeat(MAX_CONFIG_CHARACTERS)], 'just.yaml'));
  expect(worker(0).asked.yaml).toHaveLength(MAX_CONFIG_CHARACTERS);
});
