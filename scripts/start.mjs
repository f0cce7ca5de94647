/** `npm start [-- --port N]`: installs what is missing, builds the app, serves dist/ and prints the link. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, prepare, ROOT } from './prepare.mjs';
import { DEFAULT_PORT, parsePort, serve } from './serve.mjs';

/** A signal to npm ends npm and its shell but does not always reach this process; without them it would serve on unseen. */
function stopWithoutLauncher() {
  const launcher = process.ppid;
  setInterval(() => {
    if (process.ppid !== launcher) process.exit(0);
  }, 500).unref();
}

async function main() {
  const { values } = parseArgs({ options: { port: { type: 'string', default: String(DEFAULT_PORT) } } });
  const port = parsePort(values.port);
  stopWithoutLauncher();
  await prepare();
  const code = await build();
  if (code !== 0) throw new Error(`The build failed (exit ${code}); its message is above.`);
  await serve({ dir: join(ROOT, 'dist'), port });
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
