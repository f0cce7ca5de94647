import { describe, expect, test } from 'vitest';
import { eventLog } from '../../../test/fixtures/eventLog.ts';
import type { AlgorithmLine, SatEvent } from '../../runs/events.ts';
import { happened } from './happened.ts';
import { algorithmLines } from './lines.ts';

const name = (agent: number) => `Agent ${'AB'[agent]}`;

function text(where: (event: SatEvent) => boolean): string {
  const event = eventLog.find(where);
  if (event === undefined) throw new RangeError('no such event in the fixture');
  return happened(event, name);
}

describe('algorithmLines', () => {
  test('every line that an event can stand on is there once', () => {
    const used = new Set(
      eventLog.flatMap((event): AlgorithmLine[] => (event.kind === 'warmStart' ? [] : [event.line])),
    );
    const keys = algorithmLines.map((line) => line.key);
    expect(new Set(keys)).toEqual(used);
    expect(keys).toHaveLength(used.size);
  });
});

describe('happened', () => {
  test.each<[string, (event: SatEvent) => boolean, string]>([
    [
      'warm start',
      (e) => e.kind === 'warmStart',
      'step 5 of at most 10 of imitating the solver; 0.5 nats a decision from it, done at 0.1',
    ],
    [
      'rollout',
      (e) => e.kind === 'rollout',
      '8 episodes in 4 groups of 2; mean return 1 ± 0.25. 1 of the groups are flat',
    ],
    ['order', (e) => e.kind === 'order', 'Agent B → Agent A (random)'],
    ['first agent', (e) => e.kind === 'advantages', 'exactly 1'],
    ['second agent', (e) => e.kind === 'advantages' && e.agent === 0, 'from 0.5 to 2; 25 % truncated'],
    ['team', (e) => e.kind === 'intermediate' && e.position === 2, 'Already at its new policy: Agent B'],
    ['first inner step', (e) => e.kind === 'optimize', 'the clip and the penalty do not pull yet'],
    ['second inner step', (e) => e.kind === 'optimize' && e.innerStep === 2, '25 % clipped'],
    ['failed check', (e) => e.kind === 'klCheck', 'the KL quantile is above δ. Quantile 0.08 nats, δ 0.05'],
    ['passed check', (e) => e.kind === 'klCheck' && e.accepted, 'Within the trust region. Quantile 0.02'],
    ['backtrack', (e) => e.kind === 'backtrack', 'Step 0.1 → 0.05, β 0.001 → 0.0015'],
    ['last backtrack', (e) => e.kind === 'backtrack' && !e.retry, 'Agent A keeps its policy'],
    [
      'promotion',
      (e) => e.kind === 'promote',
      'Agent B is promoted after 2 attempts. β raised: 0.001 → 0.0015',
    ],
    ['rejection', (e) => e.kind === 'promote' && !e.accepted, 'Agent A keeps its policy after 1 attempt.'],
    ['no signal', (e) => e.kind === 'promote' && e.reason === 'noSignal', 'nothing to learn'],
    [
      'certificate',
      (e) => e.kind === 'certificate',
      'changed J by +0.2; guaranteed +0.1 (Statewise bound). Paper’s bound −3 (vacuous at this γ)',
    ],
    [
      'stage certificate',
      (e) => e.kind === 'certificate' && e.scope === 'stage',
      'The stage changed J by +0.2',
    ],
    [
      'stage end',
      (e) => e.kind === 'stageEnd' && e.stage === 1,
      'J = 1.1 (−0.1); J fell over this stage. 1 of 2 updates',
    ],
  ])('%s', (_, where, expected) => {
    expect(text(where)).toContain(expected);
  });

  test('simultaneous agents look at no intermediate team', () => {
    const second = eventLog.find((event) => event.kind === 'intermediate' && event.position === 2);
    expect(happened(second!, name, 'simultaneous')).toContain('judged as if nobody had');
  });

  test('says something about every event', () => {
    for (const event of eventLog) expect(happened(event, name)).toMatch(/\.$/);
  });
});
