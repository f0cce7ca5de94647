import { memo, type ReactNode } from 'react';
import type { CertificateEvent, Estimate } from '../../runs/events.ts';
import { type MetricName, metrics } from '../../runs/metrics.ts';
import { formatChange, formatNumber, formatShare } from '../folds/format.ts';
import type { UpdatePoint } from '../folds/runFold.ts';
import classes from './charts.module.css';

interface KeyNumbersProps {
  /** J as last measured. */
  readonly J: Estimate | undefined;
  /** The newest certificate, of an update or of a stage. */
  readonly certificate: CertificateEvent | undefined;
  readonly update: UpdatePoint | undefined;
  readonly agentName: (agent: number) => string;
}

/** The numbers that every reader looks for first, always on screen. */
export const KeyNumbers = memo(function KeyNumbers({ J, certificate, update, agentName }: KeyNumbersProps) {
  const best = certificate?.bounds[certificate.best];
  const paper = certificate?.bounds.paper;
  // From samples a bound is an indication, not a proof.
  const estimated = certificate?.quality === 'estimated';
  const whose = certificate === undefined ? 'no certificate yet' : subject(certificate, agentName);
  return (
    <dl className={classes.numbers}>
      <Tile metric="J" value={formatNumber(J?.value)} testId="J-value">
        {J === undefined ? 'not measured yet' : precision(J)}
      </Tile>
      <Tile metric="paper" value={formatChange(paper?.value)} testId="paper-bound-value">
        {paper?.vacuous ? `${whose}; vacuous: can never be positive` : whose}
      </Tile>
      <Tile
        metric="best"
        label={estimated ? 'Best bound, estimated' : undefined}
        value={formatChange(best?.value)}
        testId="best-bound-value"
      >
        {certificate === undefined ? (
          whose
        ) : (
          <>
            <span data-testid="best-bound-name">{metrics[certificate.best].label}</span>; {whose}
          </>
        )}
      </Tile>
      <Tile metric="klAcceptedRate" value={formatShare(update?.klAcceptedRate)} testId="kl-violation-rate">
        of states; proposed {formatShare(update?.klProposedRate)}
      </Tile>
      <Tile
        metric="monotonicityRate"
        value={formatShare(update?.monotonicityRate)}
        testId="monotonicity-violation-rate"
      >
        of updates: J fell
      </Tile>
    </dl>
  );
});

function precision({ kind, halfWidth }: Estimate): string {
  return kind === 'exact' ? 'exact' : `± ${formatNumber(halfWidth)}, estimated`;
}

function subject(certificate: CertificateEvent, agentName: (agent: number) => string): string {
  const what =
    certificate.scope === 'stage' || certificate.agent === undefined
      ? `stage ${certificate.stage + 1}`
      : agentName(certificate.agent);
  return `${what}, ${certificate.quality}`;
}

interface TileProps {
  readonly metric: MetricName;
  /** Instead of the metric's own. */
  readonly label?: string | undefined;
  readonly value: string;
  readonly testId: string;
  readonly children: ReactNode;
}

function Tile({ metric, label, value, testId, children }: TileProps) {
  const { meaning, formula, healthy, label: own } = metrics[metric];
  return (
    <div className={classes.number} title={`${meaning} ${formula}. Healthy: ${healthy}.`}>
      <dt>{label ?? own}</dt>
      <dd>
        <span className={classes.value} data-testid={testId}>
          {value}
        </span>
        <span className={classes.detail}>{children}</span>
      </dd>
    </div>
  );
}
