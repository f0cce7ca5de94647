/**
 * How agents are told apart: a hue, a letter and a shape each, so that nothing depends on colour alone. Hues are
 * spaced for red-green and blue-yellow colour blindness (after Okabe and Ito's palette), each darkened for white and
 * lightened for black backgrounds.
 */

export type AgentShape = 'circle' | 'square' | 'triangle' | 'diamond' | 'pentagon' | 'hexagon';

export interface AgentMark {
  /** A, B, C, … as the engine names agents. */
  readonly letter: string;
  readonly shape: AgentShape;
  /** CSS colour that follows the colour scheme: at least 4.5:1 against the page, for text and lines. */
  readonly color: string;
  /** CSS colour of text on an area filled with `color`. */
  readonly onColor: string;
}

const looks: readonly { readonly shape: AgentShape; readonly color: string }[] = [
  { shape: 'circle', color: 'light-dark(#0067a5, #6cb8f0)' },
  { shape: 'square', color: 'light-dark(#b84a00, #ff9a5c)' },
  { shape: 'triangle', color: 'light-dark(#00775a, #3ecfa6)' },
  { shape: 'diamond', color: 'light-dark(#a1447c, #ee9fcb)' },
  { shape: 'pentagon', color: 'light-dark(#856000, #f0c04a)' },
  { shape: 'hexagon', color: 'light-dark(#4a5568, #c5cdd8)' },
];

/** The mark of agent `agent` (from 0); hues and shapes repeat after six, letters after 26. */
export function agentMark(agent: number): AgentMark {
  const look = looks[agent % looks.length]!;
  return { letter: String.fromCharCode(65 + (agent % 26)), onColor: 'light-dark(#ffffff, #14181d)', ...look };
}
