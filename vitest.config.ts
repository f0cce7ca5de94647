import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 60_000,
    // Two workers: the machines we measure on have two cores, and Dawn on a software adapter uses both.
    maxWorkers: 2,
  },
});
