import { agentMark } from '../agentColors.ts';
import { markPath } from '../charts/agentStyle.ts';

/** An agent's letter on its shape and hue. Its name stands beside it, so the badge itself is decoration. */
export function AgentBadge({ agent }: { readonly agent: number }) {
  const { letter, color, onColor, shape } = agentMark(agent);
  return (
    <svg
      width="30"
      height="30"
      viewBox="-6 -6 12 12"
      aria-hidden="true"
      focusable="false"
      style={{ flex: 'none' }}
    >
      <title>{letter}</title>
      <path d={markPath(agent)} fill={color} stroke={color} strokeWidth="1.5" strokeLinejoin="round" />
      <text
        y={shape === 'triangle' ? 2.6 : 2}
        textAnchor="middle"
        fontSize="5.5"
        fontWeight="700"
        fill={onColor}
      >
        {letter}
      </text>
    </svg>
  );
}
