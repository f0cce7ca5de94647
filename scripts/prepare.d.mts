export const ROOT: string;

interface Lockfile {
  readonly packages: Readonly<
    Record<string, { version?: string; integrity?: string; optional?: boolean; devOptional?: boolean }>
  >;
}

export function nodeProblem(version: string): string | undefined;
export function isInstalled(locked: Lockfile, installed: Lockfile | undefined): boolean;
export function run(program: string, args: readonly string[], env?: Record<string, string>): Promise<number>;
export function runTool(
  script: string,
  args: readonly string[],
  env?: Record<string, string>,
): Promise<number>;
export function prepare(): Promise<void>;
export function build(): Promise<number>;
