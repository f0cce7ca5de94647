/** The worker that hosts the engine: messages in, messages out. */
import { ConfigError } from '../runs/configError.ts';
import { openBackends, planBackends, probeGpu } from './backends.ts';
import { Engine } from './engine.ts';
import type { EngineCommand } from './protocol.ts';

const channel = new MessageChannel();
let resume: () => void = () => {};
channel.port1.onmessage = () => resume();

const engine = new Engine({
  post: (message) => globalThis.postMessage(message),
  plan: async ({ backends }, config) => {
    const hasModels = config.team.policy === 'onnx';
    const machine = {
      isolated: globalThis.crossOriginIsolated,
      cores: navigator.hardwareConcurrency,
      hasModels,
    };
    const mayUseGpu = backends.kernels !== 'cpu' || (hasModels && backends.models !== 'wasm');
    return planBackends(backends, mayUseGpu ? await probeGpu() : { why: 'not looked for' }, machine);
  },
  open: openBackends,
  readModel,
  // Timers are clamped to 4 ms; a message to oneself queues behind the page's messages at once.
  breathe: () =>
    new Promise((resolve) => {
      resume = resolve;
      channel.port2.postMessage(null);
    }),
});

globalThis.addEventListener('message', (message: MessageEvent<EngineCommand>) => engine.handle(message.data));

/** @throws {ConfigError} if the file is not on this site. */
async function readModel(path: string, base: string): Promise<Uint8Array> {
  const refuse = (problem: string) =>
    new ConfigError([
      {
        field: 'team.model',
        given: `${path}, but ${problem}`,
        allowed: 'the path of an .onnx file on this site',
      },
    ]);
  const address = URL.parse(path, base);
  if (address === null || address.origin !== globalThis.location.origin)
    throw refuse('it is not on this site');
  const response = await fetch(address);
  if (!response.ok) throw refuse(`the server answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
