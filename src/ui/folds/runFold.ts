import type { BoundName, CertificateEvent, KlCheckEvent, PromoteEvent, SatEvent } from '../../runs/events.ts';
import { isDecrease } from '../../runs/monotonicity.ts';
import { share } from '../../runs/summary.ts';

export const boundNames: readonly BoundName[] = ['paper', 'trpo', 'cpo', 'coupling', 'statewise'];

/** One agent update as the charts need it. Missing or non-finite numbers are null. J, bounds and gains in units of J. */
export interface UpdatePoint {
  /** Of the certificate event. */
  readonly seq: number;
  /** From 1, over the whole run. */
  readonly update: number;
  /** From 0. */
  readonly stage: number;
  readonly agent: number;
  readonly accepted: boolean;
  readonly reason: PromoteEvent['reason'];
  readonly quality: 'exact' | 'estimated';
  readonly J: number | null;
  /** J minus and plus its 95 % half-width; null where J is exact. */
  readonly interval: readonly [number, number] | null;
  readonly dJ: number | null;
  readonly L: number | null;
  readonly bounds: Readonly<Record<BoundName, number | null>>;
  readonly vacuous: readonly BoundName[];
  readonly best: BoundName;
  /** J before the update plus the bound: what J had to reach at least. */
  readonly paperLevel: number | null;
  readonly bestLevel: number | null;
  /** Running shares over all updates so far, null before any state was checked. */
  readonly klProposedRate: number | null;
  readonly klAcceptedRate: number | null;
  readonly monotonicityRate: number | null;
}

/** The trust region of one agent in one stage. */
export interface RegionPoint {
  /** Of the promote event. */
  readonly seq: number;
  readonly stage: number;
  readonly agent: number;
  readonly accepted: boolean;
  readonly reason: PromoteEvent['reason'];
  readonly attempts: number;
  /** KL quantile of the last proposal, nats; null where nothing was proposed. */
  readonly quantile: number | null;
  readonly first: number | null;
  readonly delta: number | null;
  readonly beta: number | null;
  readonly betaWhy: PromoteEvent['beta']['why'];
  /** Rejections of this agent in a row, this one included. */
  readonly rejectedInRow: number;
}

/** `value`, or null where the log has no finite number. */
function finite(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null;
}

function sum(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

/** Chart series of a growing log. `extend` looks only at events it has not seen; rows are only ever appended. */
export class RunFold {
  readonly updates: UpdatePoint[] = [];
  readonly regions: RegionPoint[] = [];
  private consumed = 0;
  private last: SatEvent | undefined;
  private checks: KlCheckEvent[] = [];
  private promoted: PromoteEvent | undefined;
  private readonly rejected = new Map<number, number>();
  private readonly totals = { states: 0, proposed: 0, accepted: 0, falls: 0 };

  /** Events folded so far. */
  get size(): number {
    return this.consumed;
  }

  /** Whether `events` is the log folded so far, possibly grown since. */
  continues(events: readonly SatEvent[]): boolean {
    return this.consumed === 0 || events[this.consumed - 1] === this.last;
  }

  /** Folds in the events from where the last call stopped. O(new events). */
  extend(events: readonly SatEvent[]): void {
    for (; this.consumed < events.length; this.consumed++) {
      this.last = events[this.consumed]!;
      this.add(this.last);
    }
  }

  private add(event: SatEvent): void {
    if (event.kind === 'intermediate') this.checks = [];
    else if (event.kind === 'klCheck') this.checks.push(event);
    else if (event.kind === 'promote') this.addPromote(event);
    else if (event.kind === 'certificate' && event.scope === 'update') this.addUpdate(event);
  }

  private addPromote(event: PromoteEvent): void {
    this.promoted = event;
    this.totals.states += event.states;
    this.totals.proposed += event.proposedViolations;
    this.totals.accepted += event.acceptedViolations;
    const inRow = event.reason === 'attemptsExhausted' ? (this.rejected.get(event.agent) ?? 0) + 1 : 0;
    this.rejected.set(event.agent, inRow);
    const last = this.checks.at(-1);
    this.regions.push({
      seq: event.seq,
      stage: event.stage,
      agent: event.agent,
      accepted: event.accepted,
      reason: event.reason,
      attempts: event.attempts,
      quantile: finite(last?.quantile ?? null),
      first: finite(this.checks[0]?.quantile ?? null),
      delta: finite(last?.delta ?? null),
      beta: finite(event.beta.to),
      betaWhy: event.beta.why,
      rejectedInRow: inRow,
    });
  }

  private addUpdate(event: CertificateEvent): void {
    const [J, dJ] = [finite(event.J.value), finite(event.dJ.value)];
    const before = J === null || dJ === null ? null : J - dJ;
    if (before !== null && dJ !== null && isDecrease(dJ, before)) this.totals.falls++;
    const value = (name: BoundName) => finite(event.bounds[name].value);
    const { halfWidth, kind } = event.J;
    const { states, proposed, accepted, falls } = this.totals;
    const update = this.updates.length + 1;
    this.updates.push({
      seq: event.seq,
      update,
      stage: event.stage,
      agent: event.agent ?? -1,
      accepted: event.accepted,
      reason: this.promoted?.reason ?? 'accepted',
      quality: event.quality,
      J,
      interval: kind === 'exact' || J === null ? null : [J - halfWidth, J + halfWidth],
      dJ,
      L: finite(event.L.value),
      bounds: {
        paper: value('paper'),
        trpo: value('trpo'),
        cpo: value('cpo'),
        coupling: value('coupling'),
        statewise: value('statewise'),
      },
      vacuous: boundNames.filter((name) => event.bounds[name].vacuous),
      best: event.best,
      paperLevel: sum(before, value('paper')),
      bestLevel: sum(before, value(event.best)),
      klProposedRate: share(proposed, states),
      klAcceptedRate: share(accepted, states),
      monotonicityRate: share(falls, update),
    });
  }
}
