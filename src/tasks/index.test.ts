import { describe, expect, it } from 'vitest';
import { Rng } from '../kernels/rng.ts';
import { taskDefinition, taskDefinitions } from './index.ts';

describe('taskDefinitions', () => {
  it('are found by name, and only those', () => {
    for (const definition of taskDefinitions) expect(taskDefinition(definition.name)).toBe(definition);
    expect(taskDefinition('no such task')).toBeUndefined();
  });

  it.each(taskDefinitions.map((definition) => [definition.name, definition] as const))(
    '%s keeps what it declares, with default options',
    (name, definition) => {
      const task = definition.create({}, 0.9);
      const agents = definition.options.find((option) => option.key === 'agents');
      expect(task.name).toBe(name);
      expect(task.nAgents).toBe(agents?.default);
      expect(task.model !== undefined).toBe(definition.enumerable);
      expect([task.nActions.length, task.noop.length]).toEqual([task.nAgents, task.nAgents]);
      for (let k = 0; k < 20; k++) {
        const actions = Rng.of(k, 'actions');
        const episode = task.start(Rng.of(k, 'prompts'));
        const seen = [...episode.prompt];
        let discounted = 0;
        for (let step = 0, over = false; !over; step++) {
          expect(episode.actors().length).toBeGreaterThan(0);
          expect(seen.length).toBeLessThanOrEqual(task.columns);
          const outcome = episode.act(
            task.nActions.map((count) => actions.integer(count)),
            actions,
          );
          discounted += task.gamma ** step * outcome.reward;
          over = outcome.end !== undefined;
          seen.push(outcome.observation);
        }
        expect(Math.abs(discounted)).toBeLessThanOrEqual(task.maxReturn);
        for (const observation of seen) {
          expect(observation).toBeGreaterThanOrEqual(0);
          expect(observation).toBeLessThan(task.observationCount);
          expect(task.observationName(observation)).not.toBe('');
        }
      }
    },
  );
});
