import { bestBound, finiteSampleTerm } from '../exact/certificate.ts';
import type {
  Bound,
  BoundName,
  CertificateEvent,
  Estimate,
  StageEndEvent,
  StageStartEvent,
} from '../runs/events.ts';
import { isDecrease } from '../runs/monotonicity.ts';
import { boundValues } from './bounds.ts';
import type { StageContext } from './context.ts';
import type { TeamMeasure, VisitedDivergence } from './evaluator.ts';
import type { StageData } from './stageData.ts';
import type { Agent } from './team.ts';
import type { Proposal } from './update.ts';

type Draft<E> = Omit<E, 'seq'>;

/** The certificate of one agent update: every lower bound of SAT.md section 6 beside the change it bounds. */
export async function updateCertificate(
  context: StageContext,
  data: StageData,
  agent: Agent,
  proposal: Proposal,
  stage: number,
): Promise<Draft<CertificateEvent>> {
  const { evaluator } = context;
  const measured = await evaluator.update(agent, visitedDivergence(context, data, agent, proposal));
  return {
    kind: 'certificate',
    line: 'certificate',
    stage,
    scope: 'update',
    agent: agent.index,
    quality: evaluator.quality,
    ...measured,
    J: evaluator.measure().J,
    best: bestBound(boundValues(measured.bounds)),
    accepted: proposal.reason === 'accepted',
  };
}

/** Where the sample went and how far the kept policy moved there; nothing moved if pi_cur was kept. */
function visitedDivergence(
  context: StageContext,
  data: StageData,
  agent: Agent,
  proposal: Proposal,
): VisitedDivergence {
  const { rollouts } = data;
  if (rollouts === undefined || proposal.kept === undefined) {
    return { kl: new Float64Array(), weight: new Float64Array() };
  }
  const { gamma } = context.config.sat;
  const weight: number[] = [];
  rollouts.active[agent.index]!.forEach((flag, at) => {
    if (flag === 0) return;
    const b = Math.floor(at / rollouts.steps);
    weight.push(gamma ** ((at % rollouts.steps) - rollouts.firstDecision[b]!) / rollouts.batch);
  });
  return { kl: proposal.kept.kl, weight: Float64Array.from(weight) };
}

/** Algorithm 1, line 3: the stage certificate is the sum over its updates (Thm 4.4), in any order. */
export function sweepCertificate(
  context: StageContext,
  updates: readonly Draft<CertificateEvent>[],
  before: TeamMeasure,
  after: TeamMeasure,
  stage: number,
): Draft<CertificateEvent> {
  const { evaluator } = context;
  const sum = (name: BoundName) => sumBound(updates, name);
  const bounds = {
    paper: sum('paper'),
    trpo: sum('trpo'),
    cpo: sum('cpo'),
    coupling: sum('coupling'),
    statewise: sum('statewise'),
  };
  const largest = (pick: (update: Draft<CertificateEvent>) => number) => Math.max(...updates.map(pick));
  return {
    kind: 'certificate',
    line: 'certificate',
    stage,
    scope: 'stage',
    quality: evaluator.quality,
    L: sumEstimates(updates.map((update) => update.L)),
    dJ: stageChange(updates, before, after),
    J: after.J,
    bounds,
    best: bestBound(boundValues(bounds)),
    klMax: largest((update) => update.klMax),
    tvMax: largest((update) => update.tvMax),
    aMax: largest((update) => update.aMax),
    aMaxSource: updates[0]?.aMaxSource ?? 'computed',
    accepted: updates.some((update) => update.accepted),
    ...(evaluator.quality === 'estimated' ? { finiteSample: finiteSample(updates, context) } : {}),
  };
}

function sumBound(updates: readonly Draft<CertificateEvent>[], name: BoundName): Bound {
  const parts = updates.map((update) => update.bounds[name]);
  const penalties = parts.flatMap((part) => part.penalty ?? []);
  return {
    value: parts.reduce((sum, part) => sum + part.value, 0),
    vacuous: parts.some((part) => part.vacuous),
    ...(penalties.length > 0 ? { penalty: penalties.reduce((sum, penalty) => sum + penalty, 0) } : {}),
  };
}

/** Half-widths add: updates of one stage share their samples, so they are not independent. */
function sumEstimates(parts: readonly Estimate[]): Estimate {
  return {
    value: parts.reduce((sum, part) => sum + part.value, 0),
    halfWidth: parts.reduce((sum, part) => sum + part.halfWidth, 0),
    kind: parts.every((part) => part.kind === 'exact') ? 'exact' : 'estimated',
  };
}

function stageChange(
  updates: readonly Draft<CertificateEvent>[],
  before: TeamMeasure,
  after: TeamMeasure,
): Estimate {
  return { ...sumEstimates(updates.map((update) => update.dJ)), value: after.J.value - before.J.value };
}

/** N_i of every update is the number of prompts that its L_i was estimated from. */
function finiteSample(
  updates: readonly Draft<CertificateEvent>[],
  { config, task }: StageContext,
): { asPrinted: number; hoeffding: number } {
  const { gamma, deltaConf } = config.sat;
  return finiteSampleTerm(
    updates.map((update) => update.aMax),
    { gamma, nAgents: task.nAgents, episodes: updates.map(() => config.evaluation.prompts), deltaConf },
  );
}

/** The first event of a stage. */
export function stageStart(stage: number, measure: TeamMeasure): Draft<StageStartEvent> {
  return { kind: 'stageStart', line: 'rollout', stage, ...measure };
}

/** The last event of a stage: whether J fell, over the stage and after each update. */
export function stageEnd(
  stage: number,
  updates: readonly Draft<CertificateEvent>[],
  before: TeamMeasure,
  after: TeamMeasure,
): Draft<StageEndEvent> {
  const dJ = stageChange(updates, before, after);
  return {
    kind: 'stageEnd',
    line: 'certificate',
    stage,
    ...after,
    dJ,
    accepted: updates.filter((update) => update.accepted).length,
    updates: updates.length,
    monotonicityViolated: isDecrease(dJ.value, before.J.value),
    violatingUpdates: updates.filter(({ J, dJ }) => isDecrease(dJ.value, J.value - dJ.value)).length,
  };
}
