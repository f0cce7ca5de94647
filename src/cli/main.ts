/** `sat run | golden`: the engine of the playground in Node. See README.md for the contract of each command. */
import { ConfigError } from '../runs/configError.ts';
import { goldenCommand } from './goldenCommand.ts';
import { runCommand } from './runCommand.ts';
import { UsageError } from './usage.ts';

const USAGE = `usage:
  sat run CONFIG.yaml [--seed N] [--stages K] [--models wasm|webgpu] [--kernels cpu|webgpu] [--threads N] [--out DIR]
  sat golden DIR [--kernels cpu|webgpu]`;

async function main(argv: readonly string[]): Promise<number> {
  const [command, ...rest] = argv;
  switch (command) {
    case 'run':
      return runCommand(rest);
    case 'golden':
      return goldenCommand(rest);
    case '--help':
    case 'help':
      console.log(USAGE);
      return 0;
    default:
      throw new UsageError(`command: given ${command ?? 'nothing'}; allowed: run, golden`);
  }
}

/** 2: the command or its config cannot be used as given (nothing was written); 1: it ran and failed. */
function exitCodeOf(error: unknown): number {
  return error instanceof UsageError || error instanceof ConfigError ? 2 : 1;
}

try {
  process.exit(await main(process.argv.slice(2)));
} catch (error) {
  console.error(error instanceof Error ? error.message.replaceAll('\n', ' ') : String(error));
  if (error instanceof UsageError && process.argv.length < 4) console.error(USAGE);
  process.exit(exitCodeOf(error));
}
