import { useCallback } from 'react';
import { agentMark } from '../agentColors.ts';
import { useApp } from '../store.ts';

/** Gives an agent's display name by index; the same function until the team changes. */
export function useAgentName(): (agent: number) => string {
  const agents = useApp((state) => state.agents);
  return useCallback((agent: number) => `Agent ${agents[agent]?.name ?? agentMark(agent).letter}`, [agents]);
}
