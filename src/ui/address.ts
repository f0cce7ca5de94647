/** What the page's address asks for: `?preset=sum&models=wasm&kernels=cpu&threads=1`. */
import type { ConfigIssue } from '../runs/configError.ts';
import type { BackendChoice } from '../worker/protocol.ts';
import { presets } from './presets.ts';

export interface Address {
  readonly presetId: string;
  readonly backends: BackendChoice;
  /** Parameters that were not understood; their defaults are used. */
  readonly problems: readonly ConfigIssue[];
}

/** Reads the query of the page's address. Parameters that are none of ours are left alone. */
export function readAddress(search: string): Address {
  const query = new URLSearchParams(search);
  const problems: ConfigIssue[] = [];
  const oneOf = <T extends string>(name: string, allowed: readonly [T, ...T[]]): T => {
    const given = query.get(name);
    if (given === null) return allowed[0];
    const found = allowed.find((value) => value === given);
    if (found === undefined) {
      problems.push({ field: name, given: JSON.stringify(given), allowed: `one of ${allowed.join(', ')}` });
    }
    return found ?? allowed[0];
  };
  const [first, ...others] = presets.map((preset) => preset.id);
  const presetId = oneOf('preset', [first!, ...others]);
  const models = oneOf('models', ['auto', 'webgpu', 'wasm']);
  const kernels = oneOf('kernels', ['auto', 'webgpu', 'cpu']);
  const threads = query.get('threads');
  const isCount = threads !== null && /^[1-9]\d?$/.test(threads);
  if (threads !== null && !isCount) {
    problems.push({
      field: 'threads',
      given: JSON.stringify(threads),
      allowed: 'a whole number from 1 to 99',
    });
  }
  return { presetId, backends: { models, kernels, ...(isCount && { threads: Number(threads) }) }, problems };
}
