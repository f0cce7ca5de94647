import { Loader, Select, Tabs } from '@mantine/core';
import { lazy, Suspense, useDeferredValue, useMemo, useState } from 'react';
import type { Estimate, SatEvent } from '../../runs/events.ts';
import { ErrorBoundary } from '../ErrorBoundary.tsx';
import { latest } from '../folds/latest.ts';
import { countUpTo } from '../folds/thin.ts';
import { useApp } from '../store.ts';
import classes from './charts.module.css';
import { KeyNumbers } from './KeyNumbers.tsx';
import { useAgentName } from './useAgentName.ts';
import { useArtifactOf } from './useArtifactOf.ts';
import { useRunFold } from './useRunFold.ts';

const ImprovementPanel = lazy(() => import('./ImprovementPanel.tsx'));
const TrustRegionPanel = lazy(() => import('./TrustRegionPanel.tsx'));
const RatioPanel = lazy(() => import('./RatioPanel.tsx'));
const PolicyPanel = lazy(() => import('./PolicyPanel.tsx'));

const NEWEST = 'newest';

/** Key numbers, and the charts in tabs. Everything is a fold over the events up to the cursor. */
export function ChartTabs() {
  const events = useApp((state) => state.events);
  // Deferred: drawing charts must never hold up a click, and a fast run skips what nobody could have seen.
  const shown = useDeferredValue(useApp((state) => state.cursor + 1));
  const eventCount = useDeferredValue(useApp((state) => state.eventCount));
  const gamma = useApp((state) => state.config?.sat.gamma);
  const agents = useApp((state) => state.agents.length);
  const agentName = useAgentName();
  const fold = useRunFold(events, eventCount);
  const [tab, setTab] = useState<string | null>('improvement');
  const [subject, setSubject] = useState(NEWEST);
  const agent = subject === NEWEST ? undefined : Number(subject);
  // The fold appends in place; a slice changes only when its length does, so that charts rest between agent updates.
  const updateCount = countUpTo(fold.updates, shown);
  const updates = useMemo(() => fold.updates.slice(0, updateCount), [fold, updateCount]);
  const regionCount = countUpTo(fold.regions, shown);
  const regions = useMemo(() => fold.regions.slice(0, regionCount), [fold, regionCount]);
  const check = latest(events, shown, 'klCheck', agent);
  const promote = latest(events, shown, 'promote', agent);
  const kl = useArtifactOf(events, tab === 'trust' ? check : undefined, check?.kl);
  const ratios = useArtifactOf(events, tab === 'ratio' ? check : undefined, check?.ratios);
  const policy = useArtifactOf(events, tab === 'policy' ? promote : undefined, promote?.policy);
  const choice = (
    <Select
      size="xs"
      label="Agent"
      maw="14rem"
      mb="sm"
      allowDeselect={false}
      value={subject}
      onChange={(value) => setSubject(value ?? NEWEST)}
      data={[
        { value: NEWEST, label: 'whose turn was last' },
        ...Array.from({ length: agents }, (_, a) => ({ value: String(a), label: agentName(a) })),
      ]}
    />
  );
  return (
    <section aria-label="Charts" className={classes.palette} data-events={shown}>
      <KeyNumbers
        J={newestJ(events, shown)}
        certificate={latest(events, shown, 'certificate')}
        update={updates.at(-1)}
        agentName={agentName}
      />
      <Tabs value={tab} onChange={setTab} keepMounted={false}>
        <Tabs.List mb="sm">
          <Tabs.Tab value="improvement">Improvement</Tabs.Tab>
          <Tabs.Tab value="trust">Trust region</Tabs.Tab>
          <Tabs.Tab value="ratio">Ratio</Tabs.Tab>
          <Tabs.Tab value="policy">Policy</Tabs.Tab>
        </Tabs.List>
        <ErrorBoundary key={tab} what="This chart">
          <Suspense fallback={<Loader size="sm" aria-label="Loading charts" />}>
            <Tabs.Panel value="improvement">
              <ImprovementPanel updates={updates} gamma={gamma} agentName={agentName} />
            </Tabs.Panel>
            <Tabs.Panel value="trust">
              {choice}
              <TrustRegionPanel
                regions={regions}
                updates={updates}
                agents={agents}
                agentName={agentName}
                check={kl.event}
                kl={kl.artifact}
              />
            </Tabs.Panel>
            <Tabs.Panel value="ratio">
              {choice}
              <RatioPanel
                check={ratios.event}
                artifact={ratios.artifact}
                agent={agentName(ratios.event?.agent ?? 0)}
              />
            </Tabs.Panel>
            <Tabs.Panel value="policy">
              {choice}
              <PolicyPanel
                promote={policy.event}
                artifact={policy.artifact}
                agent={agentName(policy.event?.agent ?? 0)}
              />
            </Tabs.Panel>
          </Suspense>
        </ErrorBoundary>
      </Tabs>
    </section>
  );
}

function newestJ(events: readonly SatEvent[], shown: number): Estimate | undefined {
  for (let at = Math.min(shown, events.length) - 1; at >= 0; at--) {
    const event = events[at]!;
    if ('J' in event) return event.J;
  }
  return undefined;
}
