/**
 * A small static file server for the built app: `node scripts/serve.mjs [--port N] [--dir DIR]`.
 *
 * It imports Node's own modules only, because it also runs before anything is installed. It sends the cross-origin
 * isolation headers without which a page gets no SharedArrayBuffer, and so no threads for ONNX Runtime's wasm provider.
 * It listens on the loopback address only: browsers count that as a secure context, which WebGPU needs.
 */
import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

export const DEFAULT_PORT = 4173;
const HOST = '127.0.0.1';
/** How many ports after the wanted one are tried when it is taken. */
const PORT_TRIES = 50;

const ISOLATION_HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
};

/** Content types by file extension; `nosniff` is set, so a module or a wasm file with a wrong type would not load. */
const CONTENT_TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.csv': 'text/csv; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.jsonl': 'application/x-ndjson; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.onnx': 'application/octet-stream',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.wgsl': 'text/wgsl; charset=utf-8',
  '.woff2': 'font/woff2',
  '.yaml': 'application/yaml; charset=utf-8',
  '.yml': 'application/yaml; charset=utf-8',
};

/** Vite names a built asset after its content, `assets/name-<8 characters>.ext`: such a file never changes. */
const HASHED_ASSET = /^\/assets\/.+-[\w-]{8}\.\w+$/;

/** A request the server refuses, with the status it answers. */
class Refusal extends Error {
  /** @param {number} status @param {string} message @param {Record<string, string>} [headers] */
  constructor(status, message, headers = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** The decoded path of a request URL, without its query. Throws a `Refusal` (400) when it cannot be decoded. */
function decodedPath(url) {
  const path = url.split(/[?#]/, 1)[0];
  let decoded;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    throw new Refusal(400, `The path ${path} is not valid percent-encoding.`);
  }
  if (!decoded.startsWith('/') || decoded.includes('\0')) {
    throw new Refusal(400, 'The path must start with / and hold no NUL byte.');
  }
  return decoded;
}

const isInside = (root, file) => file === root || file.startsWith(root.endsWith(sep) ? root : root + sep);

/**
 * The file a path stands for, as `{ file, info }`. Symbolic links are followed before the check, so neither `..` nor a
 * link leads out of `root`. Throws a `Refusal`: 404 for what does not exist or lies outside, 301 for a folder without its slash.
 */
async function locate(root, path) {
  const realRoot = await realpath(root);
  const missing = new Refusal(404, `There is no ${path} here.`);
  const wanted = resolve(join(realRoot, path));
  if (!isInside(realRoot, wanted)) throw missing;
  let file = await realpath(wanted).catch(() => undefined);
  if (file === undefined || !isInside(realRoot, file)) throw missing;
  let info = await stat(file);
  if (info.isDirectory()) {
    if (!path.endsWith('/')) {
      // From the file system, not the request, so that a path such as //example.org cannot redirect elsewhere.
      const folder = relative(realRoot, wanted).split(sep).map(encodeURIComponent).join('/');
      throw new Refusal(301, `See /${folder}/`, { Location: `/${folder}/` });
    }
    file = await realpath(join(file, 'index.html')).catch(() => undefined);
    if (file === undefined || !isInside(realRoot, file)) throw missing;
    info = await stat(file);
  }
  if (!info.isFile()) throw missing;
  return { file, info };
}

async function answer(root, request, response) {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new Refusal(405, `Only GET and HEAD are served, not ${request.method}.`, { Allow: 'GET, HEAD' });
  }
  const path = decodedPath(request.url);
  const { file, info } = await locate(root, path);
  const etag = `"${info.size.toString(16)}-${Math.round(info.mtimeMs).toString(16)}"`;
  const headers = {
    ...ISOLATION_HEADERS,
    'Cache-Control': HASHED_ASSET.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache',
    ETag: etag,
  };
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304, headers).end();
    return;
  }
  response.writeHead(200, {
    ...headers,
    'Content-Type': CONTENT_TYPES[extname(file).toLowerCase()] ?? 'application/octet-stream',
    'Content-Length': info.size,
  });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  const stream = createReadStream(file);
  // The headers are gone by now; cutting the connection is the only way left to say that the body is incomplete.
  stream.on('error', () => response.destroy());
  response.on('close', () => stream.destroy());
  stream.pipe(response);
}

function refuse(request, response, error) {
  const refusal =
    error instanceof Refusal ? error : new Refusal(500, `The file could not be read: ${error.message}`);
  const body = `${refusal.status} ${refusal.message}\n`;
  response.writeHead(refusal.status, {
    ...ISOLATION_HEADERS,
    ...refusal.headers,
    'Cache-Control': 'no-cache',
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** An HTTP server (not yet listening) for the files under `root`. */
export function createStaticServer(root) {
  return createServer((request, response) => {
    answer(root, request, response).catch((error) => refuse(request, response, error));
  });
}

/**
 * Listens on `port`, or on the next free one, and returns the port in use. Port 0 takes any free port.
 * Throws the system's error when the port may not be used, or when the fifty after it are taken too.
 */
export async function listenFrom(server, port) {
  for (let tried = 0; ; tried++) {
    try {
      await new Promise((listening, failed) => {
        server.once('error', failed);
        server.listen(port + tried, HOST, () => {
          server.off('error', failed);
          listening(undefined);
        });
      });
      return server.address().port;
    } catch (error) {
      if (error.code !== 'EADDRINUSE' || tried === PORT_TRIES || port + tried >= 65535) throw error;
    }
  }
}

/** The number in `--port`, or an error that says what is allowed. */
export function parsePort(text) {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65535) {
    throw new Error(`--port ${text}: a port is a whole number from 0 to 65535 (0 takes any free one).`);
  }
  return port;
}

/** Serves `dir` until SIGINT or SIGTERM and prints the link. Throws when `dir` holds no index.html. */
export async function serve({ dir, port }) {
  const root = resolve(dir);
  await stat(join(root, 'index.html')).catch(() => {
    throw new Error(
      `${root} holds no index.html. Build the app first: npm start does it, and so does npm run build.`,
    );
  });
  const server = createStaticServer(root);
  const used = await listenFrom(server, port);
  if (port !== 0 && used !== port) console.log(`Port ${port} is taken, so this is on ${used}.`);
  console.log(`SAT Playground is at http://${HOST}:${used}/ (stop it with Ctrl+C)`);
  const stop = () => {
    server.close(() => process.exit(0));
    // Browsers keep idle connections open; without this, closing would wait for them.
    server.closeAllConnections();
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

async function main() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: String(DEFAULT_PORT) },
      dir: { type: 'string', default: fileURLToPath(new URL('../dist', import.meta.url)) },
    },
  });
  await serve({ dir: values.dir, port: parsePort(values.port) });
}

if (
  process.argv[1] !== undefined &&
  import.meta.url === pathToFileURL(await realpath(process.argv[1])).href
) {
  main().catch((error) => {
    console.error(error.message);
    process.exit(1);
  });
}
