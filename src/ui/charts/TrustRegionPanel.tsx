import { memo, useMemo } from 'react';
import type { Artifact, KlCheckEvent } from '../../runs/events.ts';
import { formatNumber, formatShare } from '../folds/format.ts';
import { newestRegions, regionRows, regionTop } from '../folds/regions.ts';
import type { RegionPoint, UpdatePoint } from '../folds/runFold.ts';
import { thin } from '../folds/thin.ts';
import { AgentSeriesChart } from './AgentSeriesChart.tsx';
import { agentStyle } from './agentStyle.ts';
import { ChartFrame, EmptyChart } from './ChartFrame.tsx';
import classes from './charts.module.css';
import { KlHistogram } from './KlHistogram.tsx';
import { Later } from './Later.tsx';
import { Legend } from './Legend.tsx';
import { RateChart, type RateSeries } from './RateChart.tsx';

interface TrustRegionPanelProps {
  readonly regions: readonly RegionPoint[];
  readonly updates: readonly UpdatePoint[];
  readonly agents: number;
  readonly agentName: (agent: number) => string;
  readonly check: KlCheckEvent | undefined;
  readonly kl: Artifact | undefined;
}

/** Rejections of one agent in a row from which on a hint is due. */
const HINT_AFTER = 3;

const klRates: readonly RateSeries[] = [
  {
    metric: 'klProposedRate',
    label: 'proposed',
    read: (row) => row.klProposedRate,
    style: { color: 'var(--c-paper)', dash: '6 3' },
  },
  {
    metric: 'klAcceptedRate',
    label: 'accepted',
    read: (row) => row.klAcceptedRate,
    style: { color: 'var(--c-J)' },
  },
];

const monotonicityRates: readonly RateSeries[] = [
  {
    metric: 'monotonicityRate',
    label: 'updates after which J fell',
    read: (row) => row.monotonicityRate,
    style: { color: 'var(--c-cpo)', dash: '9 3 2 3' },
  },
];

/** KL against the radius, the two violation rates, β, and the states behind the current check. */
function TrustRegionPanel(props: TrustRegionPanelProps) {
  const { regions, updates, agents, agentName, check, kl } = props;
  const rows = useMemo(() => regionRows(regions, agents), [regions, agents]);
  const rates = useMemo(
    () =>
      thin(
        updates,
        [...klRates, ...monotonicityRates].map(({ read }) => read),
      ),
    [updates],
  );
  if (check === undefined && regions.length === 0) {
    return <EmptyChart>No proposal has been checked yet. Press Next agent to make one.</EmptyChart>;
  }
  const last = updates.at(-1);
  return (
    <>
      <Hints regions={regions} agents={agents} agentName={agentName} />
      {check !== undefined && <KlHistogram check={check} artifact={kl} agent={agentName(check.agent)} />}
      {rows.length > 0 && (
        <ChartFrame
          title="KL quantile of the last proposal, per agent"
          summary={quantileSummary(newestRegions(regions, agents), agentName)}
        >
          <Later slot={1} height={200}>
            <AgentSeriesChart
              rows={rows}
              agents={agents}
              agentName={agentName}
              quantity="quantile"
              top={regionTop(rows)}
            />
          </Later>
          <Legend entries={agentEntries(agents, agentName, true)} />
        </ChartFrame>
      )}
      {last !== undefined && (
        <>
          <ChartFrame
            title="KL violation rate"
            summary={`Share of states over δ, over all updates so far: ${formatShare(last.klProposedRate)} in first proposals, ${formatShare(last.klAcceptedRate)} in what was accepted. It says nothing about J.`}
          >
            <Later slot={2} height={170}>
              <RateChart rows={rates} series={klRates} label="share of states" />
            </Later>
            <Legend entries={rateEntries(klRates, last)} />
          </ChartFrame>
          <ChartFrame
            title="Monotonicity violation rate"
            quality={last.quality}
            summary={`Share of agent updates after which J was lower than before, so far: ${formatShare(last.monotonicityRate)}. It says nothing about KL.`}
          >
            <Later slot={3} height={170}>
              <RateChart rows={rates} series={monotonicityRates} label="share of updates" />
            </Later>
            <Legend entries={rateEntries(monotonicityRates, last)} />
          </ChartFrame>
        </>
      )}
      {rows.length > 0 && (
        <ChartFrame
          title="KL penalty β after each update"
          summary="Raised after a failed check, lowered when the quantile is below δ/1.5: heuristics that no theorem needs."
        >
          <Later slot={4} height={200}>
            <AgentSeriesChart rows={rows} agents={agents} agentName={agentName} quantity="beta" />
          </Later>
          <Legend entries={agentEntries(agents, agentName, false)} />
        </ChartFrame>
      )}
    </>
  );
}

type Names = Pick<TrustRegionPanelProps, 'regions' | 'agents' | 'agentName'>;

function Hints({ regions, agents, agentName }: Names) {
  const stuck = newestRegions(regions, agents).filter((point) => point.rejectedInRow >= HINT_AFTER);
  return stuck.map((point) => (
    <p key={point.agent} className={classes.warning}>
      {agentName(point.agent)} was rejected {point.rejectedInRow} times in a row. A smaller step or a larger
      radius δ would let it move.
    </p>
  ));
}

function quantileSummary(newest: readonly RegionPoint[], agentName: (agent: number) => string): string {
  const parts = newest.map(({ agent, quantile, delta, accepted, reason }) => {
    if (quantile === null || delta === null) return `${agentName(agent)}: nothing proposed`;
    const outcome = accepted ? 'accepted' : reason === 'noSignal' ? 'nothing to learn' : 'rejected';
    return `${agentName(agent)}: ${formatNumber(quantile)} of ${formatNumber(delta)} nats, ${outcome}`;
  });
  return `KL(new ‖ current) at each state, exact over all actions; ✕ marks rejected updates, ▲ those above the axis. Newest: ${parts.join('; ')}.`;
}

function agentEntries(agents: number, agentName: (agent: number) => string, withRadius: boolean) {
  const entries = Array.from({ length: agents }, (_, agent) => ({
    key: String(agent),
    label: agentName(agent),
    ...agentStyle(agent),
  }));
  const radius = { key: 'delta', label: 'radius δ', color: 'var(--c-bad)', dash: undefined };
  return withRadius ? [...entries, radius] : entries;
}

function rateEntries(series: readonly RateSeries[], last: UpdatePoint) {
  return series.map(({ metric, label, style, read }) => ({
    key: metric,
    label,
    ...style,
    value: formatShare(read(last)),
  }));
}

export default memo(TrustRegionPanel);
