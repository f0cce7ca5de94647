import { describe, expect, test } from 'vitest';
import { cursorAfter, eventLog } from '../../test/fixtures/eventLog.ts';
import { summarise } from './summary.ts';

describe('summarise', () => {
  test('adds up a finished log', () => {
    expect(summarise(eventLog)).toEqual({
      stages: 2,
      J0: 1,
      J: 1.1,
      certified: 0.1 + -0.3,
      klViolationRate: 1 / 40,
      klProposedViolationRate: 15 / 40,
      monotonicityViolationRate: 1 / 4,
      stageViolationRate: 1 / 2,
    });
  });

  test('in the middle of a stage, counts the updates that are done', () => {
    const events = eventLog.slice(
      0,
      cursorAfter((event) => event.kind === 'certificate'),
    );
    expect(summarise(events)).toMatchObject({
      stages: 0,
      J0: 1,
      J: 1.2,
      certified: 0,
      klViolationRate: 0,
      klProposedViolationRate: 0.4,
      monotonicityViolationRate: 0,
      stageViolationRate: null,
    });
  });

  test('says nothing about what has not happened', () => {
    expect(summarise([])).toMatchObject({ J0: null, J: null, certified: 0, klViolationRate: null });
  });

  test('a change within rounding is not a violation', () => {
    const nudged = (dJ: number) =>
      eventLog.map((event) =>
        event.kind === 'certificate' && event.scope === 'update' && event.stage === 0
          ? { ...event, dJ: { ...event.dJ, value: dJ } }
          : event,
      );
    expect(summarise(nudged(-1e-11)).monotonicityViolationRate).toBe(1 / 4);
    expect(summarise(nudged(-1e-9)).monotonicityViolationRate).toBe(3 / 4);
  });
});
