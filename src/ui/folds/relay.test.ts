import { describe, expect, test } from 'vitest';
import { cursorAfter, eventLog } from '../../../test/fixtures/eventLog.ts';
import type { SatEvent } from '../../runs/events.ts';
import { leashText, stateText } from '../relay/laneText.ts';
import { leashOf, relayAt } from './relay.ts';

const sat = { delta: 0.05, innerSteps: 2 };
const at = (where: (event: SatEvent) => boolean) => relayAt(eventLog, cursorAfter(where), sat, 2);

describe('relayAt', () => {
  test('before the first stage, lanes wait in the agents’ own order', () => {
    const relay = relayAt(eventLog, 1, sat, 2);
    expect(relay).toMatchObject({ stage: null, ordered: false });
    expect(relay.lanes.map(({ agent, state }) => [agent, state])).toEqual([
      [0, 'waiting'],
      [1, 'waiting'],
    ]);
  });

  test('follows the order of the stage, the baton on one agent', () => {
    const { lanes, ordered } = at((event) => event.kind === 'intermediate');
    expect(ordered).toBe(true);
    expect(lanes.map(({ agent, active, state }) => [agent, active, state])).toEqual([
      [1, true, 'forming'],
      [0, false, 'waiting'],
    ]);
  });

  test('while it optimises, the leash is the mean KL', () => {
    const [lane] = at((event) => event.kind === 'optimize' && event.innerStep === 2).lanes;
    expect(lane).toMatchObject({
      attempt: 1,
      innerStep: 2,
      innerSteps: 2,
      stretch: { measure: 'mean', kl: 0.01 },
    });
    expect(leashOf(lane!)).toBe('slack');
    expect(stateText(lane!)).toBe('optimising, attempt 1, step 2 of 2');
  });

  test('a failed check breaks the leash; the next attempt passes', () => {
    const [failed] = at((event) => event.kind === 'klCheck').lanes;
    expect(failed).toMatchObject({ state: 'failed', stretch: { measure: 'quantile', kl: 0.08 } });
    expect(leashText(failed!)).toBe('KL quantile 0.08 nats · 160 % of δ · broken');
    const [passed] = at((event) => event.kind === 'klCheck' && event.attempt === 2).lanes;
    expect(passed).toMatchObject({ state: 'passed', attempt: 2 });
    expect(leashText(passed!)).toBe('KL quantile 0.02 nats · 40 % of δ · slack');
  });

  test('an accepted agent is in the intermediate team, a rejected one is not', () => {
    const { lanes } = at((event) => event.kind === 'stageEnd');
    expect(lanes.map(({ agent, state, updated, active }) => [agent, state, updated, active])).toEqual([
      [1, 'accepted', true, false],
      [0, 'kept', false, false],
    ]);
    expect(leashText(lanes[1]!)).toBe('last proposal: KL quantile 0.2 nats · 400 % of δ · broken');
  });

  test('a new stage starts afresh, in its own order', () => {
    const { stage, lanes } = at((event) => event.kind === 'order' && event.stage === 1);
    expect(stage).toBe(1);
    expect(lanes.map(({ agent, state, updated }) => [agent, state, updated])).toEqual([
      [0, 'waiting', false],
      [1, 'waiting', false],
    ]);
  });

  test('nothing to learn is neither accepted nor rejected', () => {
    const { lanes } = relayAt(eventLog, eventLog.length, sat, 2);
    expect(lanes[1]).toMatchObject({ agent: 1, state: 'noSignal', updated: false, stretch: undefined });
    expect(lanes[0]).toMatchObject({ agent: 0, state: 'accepted' });
    expect(leashText(lanes[0]!)).toContain('80 % of δ · taut');
  });

  test('each agent’s own radius before it is checked', () => {
    const { lanes } = relayAt(eventLog, 4, { ...sat, radii: [0.1, 0.2] }, 2);
    expect(lanes.map(({ agent, delta }) => [agent, delta])).toEqual([
      [1, 0.2],
      [0, 0.1],
    ]);
  });
});

describe('leashOf', () => {
  test.each([
    [0, 'slack'],
    [0.0249, 'slack'],
    [0.025, 'taut'],
    [0.05, 'taut'],
    [0.0501, 'broken'],
  ])('%d of 0.05 nats is %s', (kl, leash) => {
    expect(leashOf({ stretch: { measure: 'quantile', kl }, delta: 0.05 })).toBe(leash);
  });

  test('an agent that has not moved has none', () => {
    expect(leashOf({ stretch: undefined, delta: 0.05 })).toBe('none');
  });
});
