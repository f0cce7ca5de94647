import { ELEMENTWISE_RULES } from './elementwise.ts';
import { GATHER_RULES } from './gather.ts';
import { LAYOUT_RULES } from './layout.ts';
import { MATMUL_RULES } from './matmul.ts';
import { NORMALISE_RULES } from './normalise.ts';
import type { Rule } from './rule.ts';

/** How each operator of the standard domain is differentiated. */
export const RULES: Readonly<Record<string, Rule>> = {
  ...ELEMENTWISE_RULES,
  ...MATMUL_RULES,
  ...NORMALISE_RULES,
  ...LAYOUT_RULES,
  ...GATHER_RULES,
};
