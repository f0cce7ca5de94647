import { chain } from './chain.ts';
import { climbing } from './climbing.ts';
import { doorway } from './doorway.ts';
import { relay } from './relay.ts';
import { sum } from './sum.ts';
import type { TaskDefinition } from './task.ts';

/** Every task the playground knows. A new task is one file and one entry here. */
export const taskDefinitions: readonly TaskDefinition[] = [doorway, climbing, chain, relay, sum];

/** The task of that name, or undefined if there is none. */
export function taskDefinition(name: string): TaskDefinition | undefined {
  return taskDefinitions.find((definition) => definition.name === name);
}
