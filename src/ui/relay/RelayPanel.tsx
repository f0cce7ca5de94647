import type { CSSProperties } from 'react';
import type { Scheme } from '../../runs/config.ts';
import { useAgentName } from '../charts/useAgentName.ts';
import { type Lane, type Relay, relayAt } from '../folds/relay.ts';
import { useApp } from '../store.ts';
import { AgentBadge } from './AgentBadge.tsx';
import { Leash } from './Leash.tsx';
import { leashText, stateGlyph, stateText } from './laneText.ts';
import classes from './relay.module.css';

interface RelayLanesProps {
  readonly relay: Relay;
  readonly scheme: Scheme;
  readonly agentName: (agent: number) => string;
}

/** The relay of the run on screen, as it stands at the cursor. */
export function RelayPanel() {
  const events = useApp((state) => state.events);
  const shown = useApp((state) => state.cursor + 1);
  const sat = useApp((state) => state.config?.sat);
  const agents = useApp((state) => state.agents.length);
  const agentName = useAgentName();
  if (sat === undefined) return null;
  return <RelayLanes relay={relayAt(events, shown, sat, agents)} scheme={sat.scheme} agentName={agentName} />;
}

/** The team as a relay: a lane per agent in update order, the baton on the one whose turn it is, its KL as a leash. */
function RelayLanes({ relay, scheme, agentName }: RelayLanesProps) {
  const { lanes } = relay;
  const together = scheme === 'simultaneous';
  const holder = together ? -1 : lanes.findIndex((lane) => lane.active);
  return (
    <section aria-labelledby="relay-title" className={classes.relay}>
      <h2 id="relay-title" className={classes.title}>
        Relay {relay.stage === null ? '' : `· stage ${relay.stage + 1}`}
      </h2>
      <p className={classes.about}>{aboutText(relay, together)}</p>
      <div className={classes.course} style={{ '--lanes': lanes.length } as CSSProperties}>
        {holder >= 0 && (
          <span
            className={classes.baton}
            style={{ '--holder': holder } as CSSProperties}
            aria-hidden="true"
            data-testid="baton"
          />
        )}
        <ol className={classes.lanes}>
          {lanes.map((lane) => (
            <LaneRow
              key={lane.agent}
              lane={lane}
              name={agentName(lane.agent)}
              together={together && relay.ordered}
            />
          ))}
        </ol>
      </div>
    </section>
  );
}

function aboutText({ stage, ordered }: Relay, together: boolean): string {
  if (together) {
    return 'Simultaneous: all agents step at once from the same team, and none sees what another changes. They are computed one after the other, so their numbers arrive in turn.';
  }
  if (stage === null) return 'One agent updates at a time. The baton shows whose turn it is.';
  return ordered
    ? 'In update order. Each agent is judged by the team its predecessors left.'
    : 'The order of this stage is not fixed yet.';
}

interface LaneRowProps {
  readonly lane: Lane;
  readonly name: string;
  readonly together: boolean;
}

function LaneRow({ lane, name, together }: LaneRowProps) {
  const active = together || lane.active;
  return (
    <li
      className={classes.lane}
      data-active={active || undefined}
      data-state={lane.state}
      aria-current={!together && lane.active ? 'step' : undefined}
      data-testid={`lane-${lane.agent}`}
    >
      <div className={classes.who}>
        <AgentBadge agent={lane.agent} />
        <div className={classes.words}>
          <span className={classes.name}>
            {name}
            {lane.active && !together && <span className={classes.tag}>has the baton</span>}
            {together && <span className={classes.tag}>moving with all</span>}
          </span>
          <span className={classes.state}>
            <span aria-hidden="true">{stateGlyph(lane.state)}</span> {stateText(lane, together)}
          </span>
        </div>
      </div>
      <div className={classes.reach}>
        <Leash lane={lane} />
        <span className={classes.numbers}>{leashText(lane)}</span>
      </div>
    </li>
  );
}
