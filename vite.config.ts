import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Cross-origin isolation gives ONNX Runtime's wasm provider its threads. */
const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

export default defineConfig({
  base: './',
  plugins: [react()],
  server: { headers: isolation },
  preview: { headers: isolation },
  worker: { format: 'es' },
  build: { target: 'es2023', chunkSizeWarningLimit: 1200 },
});
