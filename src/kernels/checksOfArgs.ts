/** Checks of the operations with many arguments, shared by both backends. */
import {
  expectCount,
  expectFloats,
  expectInts,
  expectNumber,
  expectRows,
  expectRowsOf,
  expectTemperature,
} from './checks.ts';
import type { AdvantageArgs, ClippedObjectiveArgs, KlQuantileArgs } from './kernels.ts';

/** Returns V, the width of the logits. */
export function expectClippedObjectiveArgs(args: ClippedObjectiveArgs): number {
  const operation = 'clippedObjective';
  expectCount(operation, 'batch', args.batch);
  expectCount(operation, 'steps', args.steps);
  const rows = args.batch * args.steps;
  const { width } = expectRows(operation, 'logitsTar', args.logitsTar);
  expectRowsOf(operation, 'logitsTar', args.logitsTar, rows, width);
  expectRowsOf(operation, 'logitsCur', args.logitsCur, rows, width);
  expectInts(operation, 'actions', args.actions, rows);
  expectInts(operation, 'active', args.active, rows);
  expectFloats(operation, 'advantages', args.advantages, args.batch);
  expectFloats(operation, 'klWeight', args.klWeight, rows);
  expectNumber(operation, 'epsLow', args.epsLow, args.epsLow > 0 && args.epsLow < 1, 'above 0 and below 1');
  expectNumber(
    operation,
    'epsHigh',
    args.epsHigh,
    args.epsHigh > 0 && args.epsHigh < Infinity,
    'above 0 and finite',
  );
  expectNumber(operation, 'beta', args.beta, args.beta >= 0 && args.beta < Infinity, 'from 0 and finite');
  expectTemperature(operation, args.temperature);
  return width;
}

export function expectAdvantageArgs(args: AdvantageArgs): void {
  const operation = 'advantages';
  expectCount(operation, 'batch', args.batch);
  expectCount(operation, 'steps', args.steps);
  const rows = args.batch * args.steps;
  expectFloats(operation, 'rewards', args.rewards, rows);
  expectFloats(operation, 'logpHat', args.logpHat, rows);
  expectFloats(operation, 'logpCur', args.logpCur, rows);
  expectFloats(operation, 'values', args.values, args.batch * (args.steps + 1));
  expectInts(operation, 'lengths', args.lengths, args.batch);
  expectInts(operation, 'terminated', args.terminated, args.batch);
  expectNumber(operation, 'gamma', args.gamma, args.gamma >= 0 && args.gamma <= 1, 'from 0 to 1');
  expectNumber(operation, 'lambda', args.lambda, args.lambda >= 0 && args.lambda <= 1, 'from 0 to 1');
}

export function expectQuantileArgs(args: KlQuantileArgs): void {
  const operation = 'klQuantile';
  expectFloats(operation, 'values', args.values, args.values.size);
  if (args.mask) expectInts(operation, 'mask', args.mask, args.values.size);
  expectNumber(operation, 'alpha', args.alpha, args.alpha >= 0 && args.alpha <= 1, 'from 0 to 1');
  expectNumber(operation, 'delta', args.delta, args.delta >= 0, '>= 0');
}
