import { lazy, Suspense } from 'react';
import { AlgorithmView } from './AlgorithmView.tsx';
import classes from './app.module.css';
import { ErrorBoundary } from './ErrorBoundary.tsx';
import { Header } from './header/Header.tsx';
import { NoticeList } from './NoticeList.tsx';
import { ProgressPanel } from './ProgressPanel.tsx';
import { RelayPanel } from './relay/RelayPanel.tsx';
import { Knobs } from './setup/Knobs.tsx';
import { TeamPanel } from './setup/TeamPanel.tsx';
import { useApp } from './store.ts';
import { Transport } from './transport/Transport.tsx';
import { useConfigDrop } from './useConfigDrop.ts';

/** The chart library is heavy, so it comes after the page. */
const ChartTabs = lazy(() =>
  import('./charts/ChartTabs.tsx').then((module) => ({ default: module.ChartTabs })),
);

/** The page: setup on the left, the algorithm in the middle, charts on the right, the transport always at the bottom. */
export function App() {
  const dropping = useConfigDrop();
  const hasRun = useApp((state) => state.config !== undefined);
  return (
    <div className={classes.page} data-dropping={dropping || undefined}>
      <Header />
      <main className={classes.main}>
        <div className={classes.left}>
          <div className={classes.team}>
            <TeamPanel />
          </div>
          {hasRun && (
            <div className={classes.knobs}>
              <Knobs />
            </div>
          )}
        </div>
        <div className={classes.work}>
          <div className={classes.centre}>
            <ProgressPanel />
            {hasRun && (
              <div className={classes.panel}>
                <RelayPanel />
              </div>
            )}
            <AlgorithmView />
          </div>
          <div className={classes.right}>
            <div className={classes.panel}>
              <ErrorBoundary what="The charts">
                <Suspense fallback={<p className={classes.loading}>Loading the charts …</p>}>
                  <ChartTabs />
                </Suspense>
              </ErrorBoundary>
            </div>
          </div>
        </div>
      </main>
      <Transport />
      <NoticeList />
    </div>
  );
}
