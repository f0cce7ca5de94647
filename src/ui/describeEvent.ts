import type { SatEvent } from '../runs/events.ts';

/** One short line in plain words: what the run did at this event. The algorithm panel has the numbers. */
export function describeEvent(event: SatEvent, name: (agent: number) => string): string {
  switch (event.kind) {
    case 'warmStart':
      return 'The base model imitates the solver before SAT begins';
    case 'stageStart':
      return 'The stage begins: the current team is measured';
    case 'rollout':
      return event.rollouts === undefined
        ? 'No rollouts needed: advantages are exact'
        : `The current team plays ${event.episodes} episodes`;
    case 'order':
      return `Update order: ${event.order.map(name).join(', ')}`;
    case 'intermediate':
      return event.updated.length === 0
        ? `${name(event.agent)} takes the baton: nobody has moved yet`
        : `${name(event.agent)} takes the baton from the team that ${event.updated.map(name).join(' and ')} changed`;
    case 'advantages':
      return `${name(event.agent)} sees which of its actions were good in this team`;
    case 'optimize':
      return `${name(event.agent)} takes gradient step ${event.innerStep} of ${event.innerSteps}${attempt(event.attempt)}`;
    case 'klCheck':
      return event.accepted
        ? `${name(event.agent)} passes the check: its move stays within the radius`
        : `${name(event.agent)} fails the check${attempt(event.attempt)}`;
    case 'backtrack':
      return event.retry
        ? `${name(event.agent)} goes back and will try a smaller step`
        : `${name(event.agent)} goes back; it was the last attempt`;
    case 'promote':
      return event.accepted
        ? `${name(event.agent)} gets its new policy`
        : `${name(event.agent)} keeps its old policy`;
    case 'certificate':
      return event.scope === 'stage' || event.agent === undefined
        ? 'The certificate of the whole stage'
        : `The certificate of ${name(event.agent)}’s update`;
    case 'stageEnd':
      return event.monotonicityViolated ? 'The stage ends, and J fell' : 'The stage ends, and J did not fall';
  }
}

function attempt(number: number): string {
  return number > 1 ? ` (attempt ${number})` : '';
}
