import { Tooltip } from '@mantine/core';
import type { BackendReport } from '../../worker/protocol.ts';
import { useApp } from '../store.ts';
import classes from './header.module.css';

/** Where the run computes, in a few words; the reasons on hover, focus and touch. */
export function BackendBadge() {
  const backend = useApp((state) => state.backend);
  if (backend === undefined) return null;
  const reasons = inWords(backend);
  return (
    <Tooltip label={reasons} multiline w={320} events={{ hover: true, focus: true, touch: true }}>
      <button
        type="button"
        className={classes.badge}
        data-gpu={backend.kernels === 'webgpu' || backend.models === 'webgpu' || undefined}
        data-testid="backend-badge"
      >
        <span className={classes.part}>
          <span className={classes.what}>Kernels</span> {backend.kernels === 'webgpu' ? 'GPU' : 'CPU'}
        </span>
        {backend.models !== undefined && (
          <span className={classes.part}>
            <span className={classes.what}>Models</span> {backend.models === 'webgpu' ? 'GPU' : 'wasm'}
            {backend.threads !== undefined && ` × ${backend.threads}`}
          </span>
        )}
        <span className={classes.reasons}>{reasons}</span>
      </button>
    </Tooltip>
  );
}

function inWords(backend: BackendReport): string {
  const { kernels, kernelsWhy, models, modelsWhy, device, threads } = backend;
  const sentences = [
    `Kernels run on ${kernels === 'webgpu' ? `WebGPU, ${device}` : 'the CPU'}: ${kernelsWhy}.`,
  ];
  if (models !== undefined) {
    const where =
      models === 'webgpu'
        ? `WebGPU, ${device}`
        : `wasm with ${threads === 1 ? '1 thread' : `${threads ?? 'several'} threads`}`;
    sentences.push(`Models run on ${where}: ${modelsWhy ?? ''}.`);
  }
  return sentences.join(' ');
}
