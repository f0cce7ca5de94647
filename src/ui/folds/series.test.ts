import { describe, expect, test } from 'vitest';
import { eventLog } from '../../../test/fixtures/eventLog.ts';
import { changeRows, domainOf, levelRows, vacuousBounds } from './improvement.ts';
import { latest } from './latest.ts';
import { newestRegions, regionRows, regionTop } from './regions.ts';
import { RunFold } from './runFold.ts';

const fold = new RunFold();
fold.extend(eventLog);

describe('improvement', () => {
  test('levels start at J before the first update; rejected updates are marked', () => {
    const rows = levelRows(fold.updates);
    expect(rows.map((row) => row.update)).toEqual([0, 1, 2, 3, 4]);
    expect(rows[0]).toMatchObject({ J: 1, best: null, paper: null, rejected: null });
    expect(rows.map((row) => row.rejected)).toEqual([null, null, 1.2, null, 1.1]);
    expect(levelRows([])).toEqual([]);
  });

  test('a missing J is a gap', () => {
    const updates = fold.updates.map((point) => (point.update === 2 ? { ...point, J: null } : point));
    expect(levelRows(updates).map((row) => row.J)).toEqual([1, 1.2, null, 1.1, 1.1]);
  });

  test('short runs are not thinned', () => {
    expect(changeRows(fold.updates)).toEqual(fold.updates);
  });

  test('the axis shows J whole and a far bound only on demand', () => {
    const near = domainOf([1, 2], [-1000], false);
    expect(near.low).toBeCloseTo(-1 - 0.06 * 3, 12);
    expect(near.high).toBeCloseTo(2 + 0.06 * 3, 12);
    expect(domainOf([1, 2], [-1000], true).low).toBeLessThan(-1000);
    expect(domainOf([1, 2], [0.5], false).low).toBeCloseTo(0.5 - 0.06 * 1.5, 12);
  });

  test('a flat or empty series still has an axis', () => {
    for (const domain of [
      domainOf([3, 3], [], false),
      domainOf([null], [null], false),
      domainOf([0], [], true),
    ])
      expect(domain.high).toBeGreaterThan(domain.low);
  });

  test('names the bounds that can never be positive', () => {
    expect(vacuousBounds(fold.updates)).toEqual(['paper']);
    expect(vacuousBounds([])).toEqual([]);
  });
});

describe('regions', () => {
  test('one row a stage, one cell an agent', () => {
    const rows = regionRows(fold.regions, 2);
    expect(rows.map(({ stage, cells }) => [stage, ...cells.map((cell) => cell?.quantile)])).toEqual([
      [1, 0.2, 0.02],
      [2, 0.04, null],
    ]);
  });

  test('a stage under way has gaps', () => {
    expect(regionRows(fold.regions.slice(0, 3), 2)[1]?.cells[1]).toBeNull();
  });

  test('the axis reaches twice the radius, whatever was rejected', () => {
    expect(regionTop(regionRows(fold.regions, 2))).toBe(0.1);
    expect(regionTop([])).toBe(1);
  });

  test('the newest of each agent', () => {
    expect(newestRegions(fold.regions, 2)).toEqual([fold.regions[2], fold.regions[3]]);
  });
});

describe('latest', () => {
  test('the newest of a kind up to the cursor, of one agent if asked', () => {
    const all = eventLog.length;
    expect(latest(eventLog, all, 'klCheck')).toMatchObject({ stage: 1, agent: 0 });
    expect(latest(eventLog, all, 'klCheck', 1)).toMatchObject({ stage: 0, agent: 1, attempt: 2 });
    expect(latest(eventLog, all, 'certificate')).toMatchObject({ scope: 'stage', stage: 1 });
    expect(latest(eventLog, 5, 'klCheck')).toBeUndefined();
    expect(latest(eventLog, 0, 'rollout')).toBeUndefined();
  });
});
