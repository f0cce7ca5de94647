import type { AlgorithmLine } from '../../runs/events.ts';

export interface Line {
  readonly key: AlgorithmLine;
  /** Number within Algorithm 1, as docs/algorithm.md counts. */
  readonly number: string;
  readonly title: string;
  readonly symbols: string;
  readonly explanation: string;
  /** 1 inside the loop over agents, 2 inside the loop over attempts. */
  readonly depth: 0 | 1 | 2;
}

/** Algorithm 1 of arXiv 2605.05216, a line per micro-step, in order. */
export const algorithmLines: readonly Line[] = [
  {
    key: 'rollout',
    number: '1',
    title: 'Roll out the current team',
    symbols: 'B ← G trajectories of π_cur per prompt',
    explanation: 'One batch of data serves every agent of this stage.',
    depth: 0,
  },
  {
    key: 'order',
    number: '1',
    title: 'Fix the update order',
    symbols: 'σ ← orderAgents(B)',
    explanation: 'The guarantee holds for any order, as long as it is fixed before the sweep.',
    depth: 0,
  },
  {
    key: 'intermediate',
    number: '2a',
    title: 'Form the intermediate team',
    symbols: 'π̂ᵢ₋₁: agents before i are new, the rest current',
    explanation:
      'The agent is judged by the team that its predecessors left, not by the one that began the stage.',
    depth: 1,
  },
  {
    key: 'advantages',
    number: '2b',
    title: 'Advantages under that team',
    symbols: 'ρ = π̂ᵢ₋₁ / π_cur,  c = min(1, ρ)',
    explanation: 'Truncated importance ratios correct the old data for what earlier agents changed.',
    depth: 1,
  },
  {
    key: 'optimize',
    number: '2c',
    title: 'Climb the clipped objective',
    symbols: 'Lᵢ = mean min(r A, clip(r) A) − β · mean KL',
    explanation: 'A few gradient steps from the agent’s current policy make a proposal π_tar.',
    depth: 2,
  },
  {
    key: 'check',
    number: '2d',
    title: 'Check the trust region',
    symbols: '(1 − α) quantile of KL(π_tar ‖ π_cur) ≤ δ',
    explanation: 'Measured at every state, exactly over all actions; a mean would hide the one bad state.',
    depth: 2,
  },
  {
    key: 'backtrack',
    number: '2d',
    title: 'Failed: restore and try smaller',
    symbols: 'step ← step / 2,  β ← factor · β',
    explanation: 'Weights and optimiser go back bit for bit. When tries run out, the agent keeps its policy.',
    depth: 2,
  },
  {
    key: 'promote',
    number: '2e',
    title: 'Promote, or keep',
    symbols: 'π_cur ← π_tar',
    explanation: 'The baton moves on. A kept policy is a valid outcome.',
    depth: 1,
  },
  {
    key: 'certificate',
    number: '3',
    title: 'Certify what was gained',
    symbols: 'J(π̂ᵢ) − J(π̂ᵢ₋₁) ≥ bound;  stage: sum over agents',
    explanation: 'Lower bounds on the change in J for each update, and for the stage their sum.',
    depth: 0,
  },
];
