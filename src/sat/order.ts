import { Rng } from '../kernels/rng.ts';
import type { OrderRule } from '../runs/config.ts';

/**
 * Algorithm 1, orderAgents: the permutation sigma of a stage, fixed before its sweep (SAT.md section 2).
 *
 * @returns agent indices in the order of their updates.
 */
export function orderAgents(
  rule: OrderRule,
  nAgents: number,
  seed: number,
  stage: number,
  given?: readonly number[],
): readonly number[] {
  switch (rule) {
    case 'static':
      return Array.from({ length: nAgents }, (_, j) => j);
    case 'random':
      return Rng.of(seed, 'order', stage).permutation(nAgents);
    case 'given':
      return given ?? [];
  }
}
