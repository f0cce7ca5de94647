import { formatNumber, formatShare } from '../folds/format.ts';
import { type Lane, leashOf } from '../folds/relay.ts';

/** What an agent is doing, in words. `together`: all move at once, and nobody looks at an intermediate team. */
export function stateText(lane: Lane, together = false): string {
  const attempt = `attempt ${lane.attempt}`;
  switch (lane.state) {
    case 'waiting':
      return 'waiting';
    case 'forming':
      return together ? 'being computed' : 'intermediate team formed';
    case 'advantages':
      return 'advantages ready';
    case 'optimising':
      return `optimising, ${attempt}, step ${lane.innerStep} of ${lane.innerSteps}`;
    case 'passed':
      return `${attempt} passed the check`;
    case 'failed':
      return `${attempt} failed the check`;
    case 'backtracking':
      return `undoing ${attempt}`;
    case 'accepted':
      return together ? 'accepted' : 'accepted: in the intermediate team';
    case 'kept':
      return 'rejected: kept its policy';
    case 'noSignal':
      return 'kept its policy: nothing to learn';
  }
}

/** The leash in words: how far, against what, and how it looks. */
export function leashText(lane: Lane): string {
  const { stretch, delta } = lane;
  if (stretch === undefined) return `not moved · δ ${formatNumber(delta)} nats`;
  const what = stretch.measure === 'mean' ? 'mean KL' : 'KL quantile';
  const whose = lane.state === 'kept' ? 'last proposal: ' : '';
  return `${whose}${what} ${formatNumber(stretch.kl)} nats · ${formatShare(stretch.kl / delta)} of δ · ${leashOf(lane)}`;
}

/** A mark beside the words, so that outcomes can be told apart at a glance and without colour. */
export function stateGlyph(state: Lane['state']): string {
  switch (state) {
    case 'waiting':
      return '○';
    case 'accepted':
      return '✓';
    case 'kept':
      return '✕';
    case 'noSignal':
      return '–';
    case 'failed':
    case 'backtracking':
      return '↩';
    default:
      return '●';
  }
}
