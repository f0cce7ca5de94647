import { ConfigError, type ConfigIssue, MAX_CONFIG_CHARACTERS } from '../runs/configError.ts';

/** UTF-8 takes at most this many bytes for a character as strings count them. */
const BYTES_PER_CHARACTER = 3;

/** What is wrong with a config text of so many characters; checked before anything reads through it. */
export function lengthIssue(characters: number): ConfigIssue | undefined {
  return characters > MAX_CONFIG_CHARACTERS ? issue(`${characters} characters`) : undefined;
}

/**
 * The text of a config file.
 *
 * @throws {ConfigError} if it is too large to be a config, or cannot be read (a folder, for one).
 */
export async function readConfigFile(file: File): Promise<string> {
  if (file.size > BYTES_PER_CHARACTER * MAX_CONFIG_CHARACTERS) {
    throw new ConfigError([issue(`${file.name}, ${file.size} bytes`)]);
  }
  const text = await file.text().catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError([
      { field: 'config', given: `${file.name} (${why})`, allowed: 'a file that can be read' },
    ]);
  });
  const tooLong = lengthIssue(text.length);
  if (tooLong !== undefined) throw new ConfigError([tooLong]);
  return text;
}

function issue(given: string): ConfigIssue {
  return { field: 'config', given, allowed: `at most ${MAX_CONFIG_CHARACTERS} characters` };
}
