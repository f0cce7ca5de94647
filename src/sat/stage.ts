/**
 * One stage of Sequential Agent Tuning: Algorithm 1 of arXiv 2605.05216 (SAT.md section 2), as an async generator that
 * yields an event after every micro-step. Pulling one event is the step button.
 */
import type { StageEvent } from '../runs/events.ts';
import { agentBatch } from './batch.ts';
import { stageEnd, stageStart, sweepCertificate, updateCertificate } from './certificate.ts';
import type { StageContext } from './context.ts';
import { orderAgents } from './order.ts';
import { prepareStage, rolloutEvent } from './stageData.ts';
import { promote, updateAgent } from './update.ts';

/** An event before the run gives it its place in the log. */
export type Unnumbered<E> = E extends unknown ? Omit<E, 'seq'> : never;

/**
 * Runs stage `stage` (from 0) on the team in `context`, in place.
 *
 * @throws {RunError} naming the micro-step where a number was not finite or a health check failed.
 */
export async function* runStage(
  context: StageContext,
  stage: number,
): AsyncGenerator<Unnumbered<StageEvent>, void> {
  const { config, team, evaluator } = context;
  const { sat, seed } = config;
  evaluator.beginStage();
  const before = evaluator.measure();
  yield stageStart(stage, before);

  // 1. B <- roll out pi_cur; sigma <- orderAgents(B)
  const data = await prepareStage(context, stage);
  yield rolloutEvent(context, data, stage);
  const order = orderAgents(sat.order, team.agents.length, seed, stage, sat.givenOrder);
  yield { kind: 'order', line: 'order', stage, order, rule: sat.order };

  // 2. for i = 1..n, agent j = sigma(i)
  const certificates = [];
  for (const [index, j] of order.entries()) {
    const agent = team.agents[j]!;
    // a. form pi^_{i-1}: agents in data.updated are at their target, the others at pi_cur
    yield {
      kind: 'intermediate',
      line: 'intermediate',
      stage,
      agent: j,
      position: index + 1,
      updated: [...data.updated.keys()],
      J: evaluator.measure().J,
    };
    // b. sequence-aware advantages of B under pi^_{i-1}
    const { batch, event } = await agentBatch(context, data, agent, stage);
    try {
      yield event;
      // c, d. maximise L_i from pi_cur^(j); accept, or backtrack, raise beta and try again
      const proposal = yield* updateAgent(context, agent, batch, stage);
      // e. promote: pi_cur^(j) <- pi_tar^(j), or keep pi_cur
      yield await promote(context, data, agent, batch, proposal, stage);
      const certificate = await updateCertificate(context, data, agent, proposal, stage);
      certificates.push(certificate);
      yield certificate;
    } finally {
      batch.release();
    }
  }

  // 3. stage certificate
  const after = evaluator.measure();
  yield sweepCertificate(context, certificates, before, after, stage);
  yield stageEnd(stage, certificates, before, after);
}
