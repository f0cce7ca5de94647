/** What every number on the page means: one table that charts, tooltips and documentation read. */

export interface Metric {
  readonly label: string;
  /** In words, short enough for a tooltip. */
  readonly meaning: string;
  readonly formula: string;
  /** Empty for plain numbers. */
  readonly unit: string;
  /** What to expect when nothing is wrong. */
  readonly healthy: string;
  readonly source: string;
  /**
   * `exact`: always computed, never sampled. `estimated`: exact on enumerable tasks, otherwise from samples, and each
   * number says which. `heuristic`: a rule of thumb that no theorem needs.
   */
  readonly nature: 'exact' | 'estimated' | 'heuristic';
}

export const metrics = {
  J: {
    label: 'J, the team’s value',
    meaning: 'The return the team can expect.',
    formula: 'E[Σ γ^t r_t]',
    unit: 'return',
    healthy: 'rises; under exact advantages it should never fall',
    source: 'SAT.md section 1',
    nature: 'estimated',
  },
  dJ: {
    label: 'Change in J',
    meaning: 'What this agent update did to the team’s value.',
    formula: 'J after − J before',
    unit: 'return',
    healthy: 'at or above every exact lower bound',
    source: 'SAT.md section 6',
    nature: 'estimated',
  },
  L: {
    label: 'Surrogate gain L',
    meaning: 'The gain if the visited states stayed the same: what the update was optimised for.',
    formula: 'E_d[f] / (1 − γ), f(s) = mean advantage of the new policy',
    unit: 'return',
    healthy: 'positive',
    source: 'SAT.md section 6',
    nature: 'estimated',
  },
  paper: {
    label: 'Paper’s bound',
    meaning: 'The SAT paper’s promise for this update, from the largest KL.',
    formula: 'L − 2γ/(1−γ)² · A_max · √(KLmax/2)',
    unit: 'return',
    healthy: 'at most the change in J; never positive for γ ≥ ½',
    source: 'arXiv 2605.05216, Thm 4.2',
    nature: 'estimated',
  },
  trpo: {
    label: 'TRPO-type bound',
    meaning: 'A promise from the largest total variation, squared.',
    formula: 'L − 4γ/(1−γ)² · A_max · TVmax²',
    unit: 'return',
    healthy: 'at most the change in J',
    source: 'SAT.md section 6; arXiv 1502.05477',
    nature: 'estimated',
  },
  cpo: {
    label: 'CPO-type bound',
    meaning: 'A promise from the mean total variation. Never worse than the paper’s or the TRPO-type bound.',
    formula: 'L − 2γ/(1−γ)² · max|f| · E_d[TV]',
    unit: 'return',
    healthy: 'at most the change in J',
    source: 'SAT.md section 6; arXiv 1705.10528',
    nature: 'estimated',
  },
  coupling: {
    label: 'Coupling bound',
    meaning: 'A promise that uses how far the visited states can shift at most.',
    formula: 'L − 2γτ/(1−γ+γτ) · max|f|/(1−γ), τ = TVmax',
    unit: 'return',
    healthy: 'at most the change in J',
    source: 'SAT.md section 6',
    nature: 'estimated',
  },
  statewise: {
    label: 'Statewise bound',
    meaning: 'A promise from the worst state alone; it needs no trust region.',
    formula: 'E_μ[f] + γ/(1−γ) · min f',
    unit: 'return',
    healthy: 'positive wherever no state loses',
    source: 'SAT.md section 6',
    nature: 'estimated',
  },
  best: {
    label: 'Best proved bound',
    meaning: 'The largest of the five lower bounds; the largest of valid bounds is valid.',
    formula: 'max(paper, TRPO-type, CPO-type, coupling, statewise)',
    unit: 'return',
    healthy: 'at most the change in J; positive means the gain was guaranteed',
    source: 'SAT.md section 6',
    nature: 'estimated',
  },
  certified: {
    label: 'Certified gain',
    meaning: 'The largest bound of every stage’s certificate, added up over stages.',
    formula: 'Σ_stages max_k Σ_i bound_k(i)',
    unit: 'return',
    healthy: 'at most J − J₀ where exact',
    source: 'SAT.md section 6, Thm 4.4',
    nature: 'estimated',
  },
  klState: {
    label: 'KL at a state',
    meaning: 'How far the agent’s new distribution is from the one it began the stage with, at one state.',
    formula: 'KL(π_new(·|s) ‖ π_cur(·|s)), over all actions',
    unit: 'nats',
    healthy: 'within δ at all but a share α of states',
    source: 'SAT.md section 5',
    nature: 'exact',
  },
  klQuantile: {
    label: 'KL quantile',
    meaning: 'At most a share α of the checked states moved further than this.',
    formula: 'the (1 − α) quantile over states of KL(π_new ‖ π_cur)',
    unit: 'nats',
    healthy: 'at most δ when accepted',
    source: 'SAT.md section 5',
    nature: 'exact',
  },
  klProposedRate: {
    label: 'KL violations, proposed',
    meaning: 'Share of states that the first proposals moved beyond δ, before any backtracking.',
    formula: 'states with KL > δ / states checked, over all updates so far',
    unit: 'share of states',
    healthy: 'any: backtracking takes care of it; near 1 at every update means the step is too large',
    source: 'SAT.md section 5',
    nature: 'exact',
  },
  klAcceptedRate: {
    label: 'KL violations, accepted',
    meaning: 'Share of states beyond δ in what was kept. A rejected update keeps none.',
    formula: 'states with KL > δ / states checked, over all updates so far',
    unit: 'share of states',
    healthy: 'at most α',
    source: 'SAT.md section 5; the paper’s Fig. 1c',
    nature: 'exact',
  },
  monotonicityRate: {
    label: 'Monotonicity violations',
    meaning: 'Share of agent updates after which the team’s value was lower than before.',
    formula: 'updates with J after < J before / updates, so far',
    unit: 'share of updates',
    healthy: '0 under exact advantages in sequence; a few are expected from samples',
    source: 'SAT.md section 5',
    nature: 'estimated',
  },
  beta: {
    label: 'KL penalty β',
    meaning:
      'Weight of the mean KL in the objective. Raised after a failed check, lowered when KL is far below δ.',
    formula: '× factor after a failed check; ÷ factor if the quantile < δ/1.5',
    unit: 'per nat',
    healthy: 'settles; growing at every stage means the step is too large',
    source: 'SAT.md section 5',
    nature: 'heuristic',
  },
  ratio: {
    label: 'Sequence log-ratio u',
    meaning: 'How much more likely the agent’s part of a sampled sequence became; the ratio is exp(u).',
    formula: 'u = Σ_t [log π_new(a_t|s_t) − log π_cur(a_t|s_t)]',
    unit: 'nats',
    healthy: 'around 0; outside the clip band, sequences on the winning side stop pulling',
    source: 'SAT.md section 4',
    nature: 'exact',
  },
  clipped: {
    label: 'Clipped, no gradient',
    meaning: 'Sequences beyond the band on the side their advantage pulls to: they no longer pull.',
    formula: 'A > 0 and u > log(1+ε), or A < 0 and u < log(1−ε)',
    unit: 'share of sequences',
    healthy: '0 at the first inner step; near 1 means further steps do nothing',
    source: 'SAT.md section 4',
    nature: 'exact',
  },
  outside: {
    label: 'Outside the band',
    meaning: 'Sequences whose ratio left the clip band on either side.',
    formula: 'u > log(1+ε) or u < log(1−ε)',
    unit: 'share of sequences',
    healthy: 'at least the clipped share',
    source: 'SAT.md section 4',
    nature: 'exact',
  },
  policy: {
    label: 'Action probability',
    meaning: 'How likely the agent is to take an action at a state, before and after its update.',
    formula: 'π^(j)(a|s)',
    unit: 'probability',
    healthy: 'moves a little at every state',
    source: 'SAT.md section 1',
    nature: 'exact',
  },
} as const satisfies Readonly<Record<string, Metric>>;

export type MetricName = keyof typeof metrics;
