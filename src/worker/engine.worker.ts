/** The worker that hosts the engine: messages in, messages out. */
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
  // Timers are clamped to 4 ms; a message to oneself queues behind the page's messages at once.
  breathe: () =>
    new Promise((resolve) => {
      resume = resolve;
      channel.port2.postMessage(null);
    }),
});

globalThis.addEventListener('message', (message: MessageEvent<EngineCommand>) => engine.handle(message.data));
