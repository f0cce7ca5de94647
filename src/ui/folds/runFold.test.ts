import { describe, expect, test } from 'vitest';
import { eventLog } from '../../../test/fixtures/eventLog.ts';
import type { SatEvent } from '../../runs/events.ts';
import { changeRows, levelRows } from './improvement.ts';
import { RunFold } from './runFold.ts';

function foldOf(events: readonly SatEvent[]): RunFold {
  const fold = new RunFold();
  fold.extend(events);
  return fold;
}

describe('RunFold', () => {
  test('one point per agent update, with certified levels J before + bound', () => {
    const points = foldOf(eventLog).updates;
    expect(
      points.map(({ update, stage, agent, accepted, reason, J, dJ }) => [
        update,
        stage,
        agent,
        accepted,
        reason,
        J,
        dJ,
      ]),
    ).toEqual([
      [1, 0, 1, true, 'accepted', 1.2, 0.2],
      [2, 0, 0, false, 'attemptsExhausted', 1.2, 0],
      [3, 1, 0, true, 'accepted', 1.1, -0.1],
      [4, 1, 1, false, 'noSignal', 1.1, 0],
    ]);
    const levels = points.map(({ best, bestLevel, paperLevel }) => ({ best, bestLevel, paperLevel }));
    expect(levels.map(({ best }) => best)).toEqual(['statewise', 'paper', 'cpo', 'paper']);
    // Before update 3, J was 1.2: its CPO-type bound -0.3 certified 0.9, the paper's -4 only -2.8.
    expect(levels[0]?.bestLevel).toBeCloseTo(1.1, 12);
    expect(levels[0]?.paperLevel).toBeCloseTo(-2, 12);
    expect(levels[2]?.bestLevel).toBeCloseTo(0.9, 12);
    expect(levels[2]?.paperLevel).toBeCloseTo(-2.8, 12);
    expect(points[0]?.vacuous).toEqual(['paper']);
    expect(points[0]?.interval).toBeNull();
  });

  test('running rates count states and updates apart', () => {
    const points = foldOf(eventLog).updates;
    expect(points.map((point) => point.klProposedRate)).toEqual([4 / 10, 14 / 20, 15 / 40, 15 / 40]);
    expect(points.map((point) => point.klAcceptedRate)).toEqual([0, 0, 1 / 40, 1 / 40]);
    expect(points.map((point) => point.monotonicityRate)).toEqual([0, 0, 1 / 3, 1 / 4]);
  });

  test('trust regions: first and last proposal, and a gap where nothing was proposed', () => {
    const regions = foldOf(eventLog).regions;
    expect(
      regions.map(({ agent, first, quantile, delta, rejectedInRow }) => [
        agent,
        first,
        quantile,
        delta,
        rejectedInRow,
      ]),
    ).toEqual([
      [1, 0.08, 0.02, 0.05, 0],
      [0, 0.2, 0.2, 0.05, 1],
      [0, 0.04, 0.04, 0.05, 0],
      [1, null, null, null, 0],
    ]);
  });

  test('growing one event at a time gives what folding at once gives', () => {
    const grown = new RunFold();
    const log: SatEvent[] = [];
    for (const event of eventLog) {
      log.push(event);
      grown.extend(log);
    }
    const whole = foldOf(eventLog);
    expect(grown.size).toBe(eventLog.length);
    expect(grown.updates).toEqual(whole.updates);
    expect(grown.regions).toEqual(whole.regions);
  });

  test('knows its own log from another one', () => {
    const fold = foldOf(eventLog);
    expect(fold.continues([...eventLog, eventLog[0]!])).toBe(true);
    expect(fold.continues(eventLog.map((event) => ({ ...event })))).toBe(false);
    expect(fold.continues([])).toBe(false);
    expect(new RunFold().continues([])).toBe(true);
  });

  test('numbers that are not finite become gaps, and intervals follow the estimate', () => {
    const events = eventLog.map((event): SatEvent => {
      if (event.kind !== 'certificate' || event.scope !== 'update') return event;
      return event.stage === 0
        ? { ...event, dJ: { ...event.dJ, value: Number.NaN } }
        : { ...event, J: { value: 1.1, halfWidth: 0.25, kind: 'estimated' } };
    });
    const points = foldOf(events).updates;
    expect(points[0]).toMatchObject({ J: 1.2, dJ: null, bestLevel: null, paperLevel: null });
    expect(points[2]?.interval).toEqual([1.1 - 0.25, 1.1 + 0.25]);
  });

  test('ten thousand events fold within 50 ms, so that no frame is lost', () => {
    const log: SatEvent[] = [];
    while (log.length < 10_000)
      log.push(...eventLog.map((event, at) => ({ ...event, seq: log.length + at })));
    const times = [1, 2, 3].map(() => {
      const started = performance.now();
      const { updates } = foldOf(log);
      levelRows(updates);
      changeRows(updates);
      return performance.now() - started;
    });
    expect(foldOf(log).updates).toHaveLength((log.length / eventLog.length) * 4);
    // The best of three: other work on the machine is not the fold's.
    expect(Math.min(...times)).toBeLessThan(50);
  });
});
