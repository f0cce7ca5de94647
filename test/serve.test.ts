import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStaticServer, listenFrom, parsePort } from '../scripts/serve.mjs';

interface Reply {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

let base = '';
let port = 0;
let server: Server;

/** Sends the path as it is; `fetch` would resolve `..` before it left. */
function get(path: string, method = 'GET', headers: Record<string, string> = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      );
    })
      .on('error', reject)
      .end();
  });
}

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'serve-test-'));
  const dist = join(base, 'dist');
  await mkdir(join(dist, 'assets'), { recursive: true });
  await mkdir(join(dist, 'lessons'));
  await mkdir(join(base, 'dist-private'));
  await writeFile(join(base, 'secret.txt'), 'secret');
  await writeFile(join(base, 'dist-private', 'secret.txt'), 'secret');
  await writeFile(join(dist, 'index.html'), '<!doctype html>home');
  await writeFile(join(dist, 'lessons', 'index.html'), 'lesson');
  await writeFile(join(dist, 'with space.yaml'), 'a: 1');
  for (const name of ['ort-Ab3_-x9Z.wasm', 'plain.wasm', 'm.mjs', 'kl.wgsl', 'agent.onnx', 'p.yaml']) {
    await writeFile(join(dist, 'assets', name), name);
  }
  await symlink(join(base, 'secret.txt'), join(dist, 'link.txt'));
  server = createStaticServer(dist);
  port = await listenFrom(server, 0);
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  await rm(base, { recursive: true });
});

describe('createStaticServer', () => {
  test('every answer isolates the page, errors included', async () => {
    for (const path of ['/', '/assets/m.mjs', '/nothing', '/%E0%A4%A']) {
      const { headers } = await get(path);
      expect(headers['cross-origin-opener-policy'], path).toBe('same-origin');
      expect(headers['cross-origin-embedder-policy'], path).toBe('require-corp');
      expect(headers['cross-origin-resource-policy'], path).toBe('same-origin');
    }
  });

  test.each([
    ['/', 'text/html; charset=utf-8'],
    ['/assets/plain.wasm', 'application/wasm'],
    ['/assets/m.mjs', 'text/javascript; charset=utf-8'],
    ['/assets/kl.wgsl', 'text/wgsl; charset=utf-8'],
    ['/assets/agent.onnx', 'application/octet-stream'],
    ['/assets/p.yaml', 'application/yaml; charset=utf-8'],
  ])('%s has the type %s', async (path, type) => {
    const reply = await get(path);
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toBe(type);
  });

  test('a query is ignored, escapes are decoded, a folder gives its index', async () => {
    expect((await get('/?kernels=cpu')).body).toBe('<!doctype html>home');
    expect((await get('/with%20space.yaml')).body).toBe('a: 1');
    expect((await get('/lessons/')).body).toBe('lesson');
    const bare = await get('/lessons');
    expect([bare.status, bare.headers.location]).toEqual([301, '/lessons/']);
  });

  test('a redirect never leaves this host', async () => {
    expect((await get('//lessons')).headers.location).toBe('/lessons/');
  });

  test.each([
    '/../secret.txt',
    '/assets/../../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/../dist-private/secret.txt',
    '/link.txt',
    '/assets/',
    '/nothing.js',
  ])('%s is not served', async (path) => {
    const { status, body } = await get(path);
    expect(status).toBe(404);
    expect(body).toMatch(/^404 There is no /);
  });

  test('a path that cannot be decoded, or holds a NUL byte, is a bad request', async () => {
    expect((await get('/%E0%A4%A')).status).toBe(400);
    expect((await get('/a%00b')).status).toBe(400);
  });

  test('HEAD has the headers of GET and no body; other methods are refused', async () => {
    const head = await get('/assets/p.yaml', 'HEAD');
    expect([head.status, head.headers['content-length'], head.body]).toEqual([200, '6', '']);
    expect((await get('/nothing', 'HEAD')).body).toBe('');
    const post = await get('/', 'POST');
    expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD']);
  });

  test('files named after their content are cached for good, others are revalidated', async () => {
    const hashed = await get('/assets/ort-Ab3_-x9Z.wasm');
    expect(hashed.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const plain = await get('/assets/plain.wasm');
    expect(plain.headers['cache-control']).toBe('no-cache');
    const again = await get('/assets/plain.wasm', 'GET', { 'If-None-Match': String(plain.headers.etag) });
    expect([again.status, again.body]).toEqual([304, '']);
  });
});

describe('listenFrom', () => {
  test('takes the next free port when the wanted one is taken', async () => {
    const second = createStaticServer(join(base, 'dist'));
    const used = await listenFrom(second, port);
    expect(used).toBeGreaterThan(port);
    await new Promise((closed) => second.close(closed));
  });
});

describe('parsePort', () => {
  test.each([
    ['0', 0],
    ['4173', 4173],
    ['65535', 65535],
  ])('%s', (text, expected) => {
    expect(parsePort(text)).toBe(expected);
  });

  test.each(['', '-1', '65536', '80.5', 'http'])('%j is refused with what is allowed', (text) => {
    expect(() => parsePort(text)).toThrow('a port is a whole number from 0 to 65535');
  });
});

describe('the command', () => {
  const script = join(import.meta.dirname, '../scripts/serve.mjs');

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'prints a link that answers and exits with 0 on %s',
    async (signal) => {
      const child = spawn(process.execPath, [script, '--port', '0', '--dir', join(base, 'dist')]);
      const link = await new Promise<string>((found) => {
        child.stdout.on('data', (chunk: Buffer) => {
          const match = /http:\/\/\S+/.exec(chunk.toString());
          if (match !== null) found(match[0]);
        });
      });
      expect(await (await fetch(link)).text()).toBe('<!doctype html>home');
      const exit = new Promise((exited) => {
        child.once('exit', (code) => exited(code));
      });
      child.kill(signal);
      expect(await exit).toBe(0);
    },
  );

  test('a folder that was never built is an error that says what to run', async () => {
    const child = spawn(process.execPath, [script, '--dir', join(base, 'dist-private')]);
    let message = '';
    child.stderr.on('data', (chunk: Buffer) => {
      message += chunk.toString();
    });
    const code = await new Promise((exited) => {
      child.once('close', exited);
    });
    expect(code).toBe(1);
    expect(message).toContain('holds no index.html');
    expect(message).toContain('npm start');
  });
});
