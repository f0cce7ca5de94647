import type { Shaders } from './wgsl.ts';

const files = import.meta.glob<string>('/shaders/*.wgsl', { query: '?raw', import: 'default', eager: true });

/** The WGSL sources, bundled by Vite. */
export const shaders: Shaders = Object.fromEntries(
  Object.entries(files).map(([path, source]) => [path.replace(/^.*\/|\.wgsl$/g, ''), source]),
);
