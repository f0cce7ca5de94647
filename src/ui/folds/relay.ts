import type { RunConfig } from '../../runs/config.ts';
import type { PromoteEvent, SatEvent, StageEvent } from '../../runs/events.ts';

/** Where an agent stands within the stage. */
export type LaneState =
  | 'waiting'
  | 'forming'
  | 'advantages'
  | 'optimising'
  | 'passed'
  | 'failed'
  | 'backtracking'
  | 'accepted'
  | 'kept'
  | 'noSignal';

/** How far an agent has moved. `mean` over states while it optimises, then the quantile that the check uses; nats. */
export interface Stretch {
  readonly measure: 'mean' | 'quantile';
  readonly kl: number;
}

export interface Lane {
  readonly agent: number;
  /** From 1, its place in the update order. */
  readonly position: number;
  readonly state: LaneState;
  /** Its turn now: it holds the baton. */
  readonly active: boolean;
  /** In the intermediate team with its new policy. */
  readonly updated: boolean;
  /** 0 before the first. */
  readonly attempt: number;
  readonly innerStep: number;
  readonly innerSteps: number;
  /** Absent before the agent has moved in this stage. */
  readonly stretch: Stretch | undefined;
  /** Radius in nats. */
  readonly delta: number;
}

export interface Relay {
  /** From 0; null before the first stage. */
  readonly stage: number | null;
  /** False while the order of this stage is not fixed; lanes are then in the agents' own order. */
  readonly ordered: boolean;
  readonly lanes: readonly Lane[];
}

/** Leash of a lane: slack below half of the radius, taut up to it, broken beyond. */
export type Leash = 'none' | 'slack' | 'taut' | 'broken';

export function leashOf({ stretch, delta }: Pick<Lane, 'stretch' | 'delta'>): Leash {
  if (stretch === undefined) return 'none';
  const ratio = stretch.kl / delta;
  return ratio > 1 ? 'broken' : ratio < 0.5 ? 'slack' : 'taut';
}

/**
 * The relay after the first `cursor` events of a log: one lane per agent in the stage's update order. Reads back to
 * the start of the stage only.
 */
export function relayAt(
  events: readonly SatEvent[],
  cursor: number,
  sat: Pick<RunConfig['sat'], 'delta' | 'radii' | 'innerSteps'>,
  agents: number,
): Relay {
  const current = stageEvents(events, cursor);
  const order = current.find((event) => event.kind === 'order')?.order;
  const sequence = order ?? Array.from({ length: agents }, (_, agent) => agent);
  const lanes = new Map(
    sequence.map((agent, index): [number, Lane] => [
      agent,
      {
        agent,
        position: index + 1,
        state: 'waiting',
        active: false,
        updated: false,
        attempt: 0,
        innerStep: 0,
        innerSteps: sat.innerSteps,
        stretch: undefined,
        delta: sat.radii?.[agent] ?? sat.delta,
      },
    ]),
  );
  for (const event of current) {
    if (event.kind === 'intermediate') for (const [, lane] of lanes) lay(lanes, lane, { active: false });
    if (event.kind === 'stageEnd' || (event.kind === 'certificate' && event.scope === 'stage')) {
      for (const [, lane] of lanes) lay(lanes, lane, { active: false });
    }
    const agent = 'agent' in event ? event.agent : undefined;
    const lane = agent === undefined ? undefined : lanes.get(agent);
    if (lane !== undefined) lay(lanes, lane, changeOf(event));
  }
  return { stage: current[0]?.stage ?? null, ordered: order !== undefined, lanes: [...lanes.values()] };
}

function lay(lanes: Map<number, Lane>, lane: Lane, change: Partial<Lane>): void {
  lanes.set(lane.agent, { ...lane, ...change });
}

/** The events of the stage that the cursor stands in, oldest first. */
function stageEvents(events: readonly SatEvent[], cursor: number): StageEvent[] {
  const found: StageEvent[] = [];
  for (let at = Math.min(cursor, events.length) - 1; at >= 0; at--) {
    const event = events[at]!;
    if (event.kind === 'warmStart') break;
    found.push(event);
    if (event.kind === 'stageStart') break;
  }
  return found.reverse();
}

/** What an event changes in the lane of its agent. */
function changeOf(event: StageEvent): Partial<Lane> {
  switch (event.kind) {
    case 'intermediate':
      return { state: 'forming', active: true };
    case 'advantages':
      return { state: 'advantages' };
    case 'optimize':
      return {
        state: 'optimising',
        attempt: event.attempt,
        innerStep: event.innerStep,
        innerSteps: event.innerSteps,
        stretch: { measure: 'mean', kl: event.meanKl },
      };
    case 'klCheck':
      return {
        state: event.accepted ? 'passed' : 'failed',
        attempt: event.attempt,
        delta: event.delta,
        stretch: { measure: 'quantile', kl: event.quantile },
      };
    case 'backtrack':
      return { state: 'backtracking' };
    case 'promote':
      return { state: outcome(event), updated: event.accepted };
    default:
      return {};
  }
}

function outcome({ reason }: PromoteEvent): LaneState {
  if (reason === 'accepted') return 'accepted';
  return reason === 'noSignal' ? 'noSignal' : 'kept';
}
