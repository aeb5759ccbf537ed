import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { parse } from 'yaml'
import { request } from '../../../gateway/src/testing/client.ts'
import { closedPort, useGateway, useOrigin } from '../../../gateway/src/testing/scene.ts'
import { printImport } from '../core/print-import.ts'
import { importNginx } from './import-nginx.ts'

const hasNginx = spawnSync('nginx', ['-v']).status === 0

/** Locations that meet each other in many ways. */
const PATHS = ['/', '/a', '/a/', '/a/b', '/a/b/', '/ab', '/api', '/api/', '/api/v1/', '/s/', '/s/img', '/x.y/', '/a.b']
const REGEXES = [
  String.raw`\.php$`,
  '^/a/b',
  String.raw`\.(css|js)$`,
  'b/.*c',
  String.raw`^/api/v\d+/`,
  '^/s|/end$',
  '[A-Z]',
  '.',
]
const REQUESTS = [
  ...[
    '/',
    '/a',
    '/a/',
    '/a/b',
    '/a/b/',
    '/a/b/c',
    '/a/bc',
    '/ab',
    '/abc',
    '/ab/c',
    '/api',
    '/api/',
    '/api/v1',
    '/api/v1/x',
    '/api/v2/x.php',
  ],
  ...[
    '/apis',
    '/s',
    '/s/',
    '/s/img',
    '/s/img/x.css',
    '/s/x.JS',
    '/x.y',
    '/x.y/z',
    '/xzy/z',
    '/a.b',
    '/aXb',
    '/a/b/c/end',
    '/end',
    '/A',
    '/q.php',
  ],
  ...['/a?x=1', '/api/?q=/a/b', '/a/b/x.php?z', '/s?end', '/end/', '/a/x.css', '/other'],
]

interface RandomLocation {
  readonly head: string
  readonly handler: number
  readonly uri: string
  readonly rewrites: readonly string[]
  readonly nested: readonly RandomLocation[]
}

const REWRITES = [
  '^/a/(.*)$ /api/v1/$1 last',
  '^/api/(.*)$ /$1 break',
  '^/a/b(.*) /ab$1 break',
  'b/(.) /x.y/$1 last',
  '^/s/(.*)$ /moved/$1 permanent',
  '^(.*)/end$ $1/fin redirect',
  '/img/ /s/img?n=1 redirect',
  '^ https://other.test$request_uri? permanent',
  '^/api/v1/(.*)$ /q?from=$1 break',
  String.raw`^/(a)/(b)/?(.*)$ http://$host/$2/$1/$3? redirect`,
  '^/ab /a.b',
  '^/x.y/ /nowhere/ last',
]

const action = fc.record({
  handler: fc.nat(12),
  uri: fc.constantFrom('', '', '/', '/z', '/z/y/'),
  rewrites: fc.oneof(
    { weight: 4, arbitrary: fc.constant<string[]>([]) },
    { weight: 1, arbitrary: fc.array(fc.constantFrom(...REWRITES), { minLength: 1, maxLength: 2 }) },
  ),
})

function locations(parent: string, depth: number): fc.Arbitrary<RandomLocation[]> {
  const paths = PATHS.filter((path) => path.startsWith(parent))
  return fc
    .record({
      prefixes: fc.uniqueArray(fc.record({ path: fc.constantFrom(...paths), isFirm: fc.boolean() }), {
        ...{ maxLength: depth === 0 ? 6 : 2, selector: ({ path }) => path },
      }),
      exact: fc.uniqueArray(fc.constantFrom(...paths), { maxLength: depth === 0 ? 2 : 1 }),
      regexes: fc.uniqueArray(fc.constantFrom(...REGEXES), { maxLength: depth === 0 ? 3 : 1 }),
      isCaseless: fc.boolean(),
    })
    .chain(({ prefixes, exact, regexes, isCaseless }) => {
      const heads = [
        ...prefixes.map(({ path, isFirm }) => ({ head: `${isFirm ? '^~ ' : ''}${path}`, within: path })),
        ...exact.map((path) => ({ head: `= ${path}`, within: null })),
        ...regexes.map((regex) => ({ head: `${isCaseless ? '~*' : '~'} ${regex}`, within: null })),
      ]
      const made = heads.map(({ head, within }) => {
        const inner = within === null || depth === 2 ? fc.constant([]) : locations(within, depth + 1)
        const nested = fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: inner })
        return fc
          .tuple(action, nested)
          .map(([{ uri, ...rest }, list]) => ({ ...rest, head, uri: head.startsWith('~') ? '' : uri, nested: list }))
      })
      return fc.tuple(...made)
    })
}

const servers = fc.record({
  list: locations('/', 0),
  rewrites: fc.oneof(
    { weight: 3, arbitrary: fc.constant<string[]>([]) },
    { weight: 1, arbitrary: fc.array(fc.constantFrom(...REWRITES), { minLength: 1, maxLength: 2 }) },
  ),
})

type RandomServer = typeof servers extends fc.Arbitrary<infer Value> ? Value : never

function printLocation({ head, handler, uri, rewrites, nested }: RandomLocation, origins: readonly number[]): string {
  const actions = [
    ...['return 418 "teapot";', 'return 302 /moved;', 'try_files $uri @named;', 'deny all;'],
    'error_page 418 = @named; return 418;',
    `internal; proxy_pass http://127.0.0.1:${origins[2]};`,
    `limit_except POST { deny all; } proxy_pass http://127.0.0.1:${origins[3]};`,
    `allow 192.0.2.0/24; deny all; try_files $uri @named;`,
  ]
  const main =
    actions[handler - 5] ??
    `proxy_pass http://127.0.0.1:${origins[handler]}${uri};${handler === 0 ? ' proxy_set_header Host $host;' : ''}`
  const changes = rewrites.map((each) => `rewrite ${each};`).join(' ')
  return `location ${head} { ${changes} ${main}\n${nested.map((each) => printLocation(each, origins)).join('\n')} }`
}

function printServer(
  { list, rewrites }: RandomServer,
  index: number,
  port: number,
  origins: readonly number[],
): string {
  const printed = [
    ...rewrites.map((each) => `rewrite ${each};`),
    ...list.map((each) => printLocation(each, origins)),
    `location @named { proxy_pass http://127.0.0.1:${origins[1]}; }`,
  ]
  return `server {\n  listen 127.0.0.1:${port};\n  server_name s${index}.test;\n${printed.join('\n')}\n}`
}

async function useNginx(t: TestContext, servers: string, port: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-nginx-'))
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const file = join(folder, 'nginx.conf')
  writeFileSync(
    file,
    `pid ${folder}/pid;\nerror_log stderr emerg;\nevents {}\nhttp {\naccess_log off;\n${paths.join('\n')}\nserver_names_hash_bucket_size 128;\n${servers}\n}\n`,
  )
  const child = spawn('nginx', ['-p', folder, '-c', file, '-g', 'daemon off; master_process off;'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit')
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  while (!(await canConnect(port))) assert.equal(child.exitCode, null, said)
}

async function canConnect(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  })
  socket.destroy()
  if (!isOpen) await new Promise((resolve) => setTimeout(resolve, 20))
  return isOpen
}

interface Outcome {
  readonly status: number
  readonly upstream: string | null
  readonly location: string | null
}

/**
 * Sends a request. Returns the status, and the origin with the path and host that it got; for a redirect, the address
 * without its port.
 */
async function outcomeOf(port: number, host: string, path: string): Promise<Outcome> {
  const { status, headers, body } = await request(port, { path, headers: { host } })
  const location = headers['location']
  const target = typeof location === 'string' ? new URL(location, `http://${host}`) : null
  return {
    status,
    upstream: status === 200 ? body : null,
    location: target === null ? null : printedTarget(target),
  }
}

/**
 * Prints the target of a redirect, without the query of `/moved`: only the gateway keeps this query, and nginx drops
 * it.
 */
function printedTarget({ protocol, hostname, pathname, search }: URL): string {
  return `${protocol}//${hostname}${pathname}${pathname === '/moved' ? '' : search}`
}

test(
  'random locations lead to the same upstream, path and status as in nginx',
  { skip: hasNginx ? false : 'nginx is not installed' },
  async (t) => {
    const origins = await Promise.all(
      Array.from({ length: 5 }, async (_each, index) => {
        const origin = await useOrigin(t, (seen, response) => {
          response.end(JSON.stringify({ index, url: seen.url, host: seen.headers.host }))
        })
        return origin.port
      }),
    )
    const seed = Number(process.env.PORTICO_SEED ?? 7)
    const sample = fc.sample(servers, { numRuns: 25, seed })
    const port = await closedPort()
    const text = sample.map((server, index) => printServer(server, index, port, origins)).join('\n')
    await useNginx(t, text, port)
    const result = importNginx([{ name: 'nginx.conf', text }], () => 'no files')
    assert.ok(result.ok, result.ok ? '' : result.problem.message)
    const config = parse(printImport(result.value, ['nginx.conf'], 'nginx').config) as { binds: { port: number }[] }
    const gateway = await useGateway(t, { ...config, binds: config.binds.map((bind) => ({ ...bind, port: 0 })) })
    let compared = 0
    for (const [index, server] of sample.entries()) {
      for (const path of REQUESTS) {
        const host = `s${index}.test`
        const [expected, actual] = [await outcomeOf(port, host, path), await outcomeOf(gateway.port(), host, path)]
        // Requests that the importer cannot import get 501, whatever nginx responds.
        if (actual.status === 501) continue
        compared++
        assert.deepEqual(actual, expected, `seed ${seed}, ${path}\n${printServer(server, index, port, origins)}`)
      }
    }
    assert.ok(compared > 500, `only ${compared} requests were compared`)
  },
)
