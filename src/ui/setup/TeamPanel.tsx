import { AgentBadge } from '../relay/AgentBadge.tsx';
import { useApp } from '../store.ts';
import classes from './setup.module.css';

const kinds = { tabular: 'table of logits', onnx: 'ONNX model', mixture: 'mixture of two models' } as const;

/** What the team plays, and who plays it. */
export function TeamPanel() {
  const task = useApp((state) => state.task);
  const about = useApp((state) => state.config?.about);
  const runName = useApp((state) => (state.runName === state.config?.task.name ? '' : state.runName));
  const agents = useApp((state) => state.agents);
  if (task === undefined) return <p className={classes.hint}>Loading …</p>;
  return (
    <section aria-labelledby="task-title">
      <h2 id="task-title" className={classes.title}>
        {task.title} <span className={classes.run}>{runName}</span>
      </h2>
      <p className={classes.meaning}>{about || task.meaning}</p>
      <ul className={classes.agents} aria-label="Team">
        {agents.map((agent, index) => (
          <li key={agent.name} className={classes.agent}>
            <AgentBadge agent={index} />
            <div>
              <p className={classes.agentName}>
                Agent {agent.name} <span className={classes.kind}>{kinds[agent.kind]}</span>
              </p>
              <p className={classes.detail}>
                {agent.description}; {agent.parameterCount.toLocaleString('en')} parameters
              </p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
