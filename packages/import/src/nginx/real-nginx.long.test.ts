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
}

const prefixes = fc.uniqueArray(fc.record({ path: fc.constantFrom(...PATHS), isFirm: fc.boolean() }), {
  ...{ maxLength: 6, selector: ({ path }) => path },
})
const servers = fc
  .record({
    prefixes,
    exact: fc.uniqueArray(fc.constantFrom(...PATHS), { maxLength: 2 }),
    regexes: fc.uniqueArray(fc.constantFrom(...REGEXES), { maxLength: 3 }),
    isCaseless: fc.boolean(),
    handlers: fc.array(fc.record({ handler: fc.nat(6), uri: fc.constantFrom('', '', '/', '/z', '/z/y/') }), {
      minLength: 11,
      maxLength: 11,
    }),
  })
  // A prefix below `^~` beside regular expressions is imported with another meaning, and says so.
  .filter(({ prefixes: list, regexes }) => {
    const firm = list.filter(({ isFirm }) => isFirm)
    return (
      regexes.length === 0 ||
      !list.some(({ path, isFirm }) => !isFirm && firm.some((each) => path.startsWith(each.path)))
    )
  })
  .map((found) => {
    const heads = [
      ...found.prefixes.map(({ path, isFirm }) => `${isFirm ? '^~ ' : ''}${path}`),
      ...found.exact.map((path) => `= ${path}`),
      ...found.regexes.map((regex) => `${found.isCaseless ? '~*' : '~'} ${regex}`),
    ]
    return heads.map((head, index): RandomLocation => {
      const { handler, uri } = found.handlers[index] ?? { handler: 0, uri: '' }
      return { head, handler, uri: head.startsWith('~') ? '' : uri }
    })
  })

function printServer(
  locations: readonly RandomLocation[],
  index: number,
  port: number,
  origins: readonly number[],
): string {
  const printed = locations.map(({ head, handler, uri }) => {
    const action =
      handler === 5
        ? 'return 418 "teapot";'
        : handler === 6
          ? 'return 302 /moved;'
          : `proxy_pass http://127.0.0.1:${origins[handler]}${uri};${handler === 0 ? ' proxy_set_header Host $host;' : ''}`
    return `  location ${head} { ${action} }`
  })
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

/** The status, and the origin with the path and host that it got; of a redirect, the path. */
async function outcomeOf(port: number, host: string, path: string): Promise<object> {
  const { status, headers, body } = await request(port, { path, headers: { host } })
  const location = headers['location']
  const target = typeof location === 'string' ? new URL(location, 'http://x.test') : null
  return { status, upstream: status === 200 ? body : null, location: target === null ? null : target.pathname }
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
    const sample = fc.sample(servers, { numRuns: 15, seed })
    const port = await closedPort()
    const text = sample.map((locations, index) => printServer(locations, index, port, origins)).join('\n')
    await useNginx(t, text, port)
    const result = importNginx([{ name: 'nginx.conf', text }], () => 'no files')
    assert.ok(result.ok, result.ok ? '' : result.problem.message)
    const config = parse(printImport(result.value, ['nginx.conf'], 'nginx').config) as { binds: { port: number }[] }
    const gateway = await useGateway(t, { ...config, binds: config.binds.map((bind) => ({ ...bind, port: 0 })) })
    for (const [index, locations] of sample.entries()) {
      for (const path of REQUESTS) {
        const host = `s${index}.test`
        const [expected, actual] = [await outcomeOf(port, host, path), await outcomeOf(gateway.port(), host, path)]
        assert.deepEqual(actual, expected, `seed ${seed}, ${path}\n${printServer(locations, index, port, origins)}`)
      }
    }
    assert.ok(sample.length * REQUESTS.length > 500)
  },
)
