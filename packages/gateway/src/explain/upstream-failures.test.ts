import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { loadConfig } from '../sources/file.ts'
import { FakeTime } from '../testing/fake-time.ts'
import type { TestGateway } from '../testing/gateway.ts'
import { closedPort, httpConfig, pathPrefix, until, useGateway } from '../testing/scene.ts'
import { acceptOf } from '@portico/http/websocket'
import { explain } from './explain.ts'
import { type Ask, askHttp1, askHttp2, type Sight } from './testing/death-clients.ts'
import { type Death, deaths } from './testing/deaths.ts'
import { type DyingBackend, useDyingHttp1, useDyingHttp2 } from './testing/dying-backends.ts'

/** Every kind of backend × every way to fail × both kinds of clients: what each observer says, as a test and as a page. */

const PAGE = fileURLToPath(new URL('../../../../docs/upstream-failures.md', import.meta.url))
const LIMIT_MS = 30_000

interface Kind {
  name: string
  backend: (t: TestContext) => Promise<DyingBackend>
  /** A backend of the config at this address. */
  target: (port: number) => object
  policies?: object
  ask?: Partial<Ask>
  isHttp2?: true
  isTunnel?: true
  clients?: readonly ('HTTP/1' | 'HTTP/2')[]
}

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`
// Closed after the answer, so that no request meets the connection of the one before.
const plain = {
  head: 'HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n',
  half: chunk('half'),
  rest: `${chunk('rest')}0\r\n\r\n`,
}
const EVENTS =
  'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
const host = (port: number): object => ({ host: `127.0.0.1:${port}` })
const delta = (choice: object): string =>
  chunk(
    `data: ${JSON.stringify({ id: '1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [choice] })}\n\n`,
  )
const HELLO = {
  jsonrpc: '2.0',
  id: 1,
  result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'half', version: '1' } },
}
const mcpBody = JSON.stringify(HELLO)

/** Pins HTTP/1; by default the backend gets the client's HTTP version. */
const HTTP1 = { http: { version: 'HTTP1' } }

/** The head of a WebSocket server; the proof answers the key that the gateway sends for an HTTP/2 client. */
function switched(request: string): string {
  const key = /^sec-websocket-key: (.+)\r$/im.exec(request)?.[1]
  const proof = key === undefined ? '' : `sec-websocket-accept: ${acceptOf(key)}\r\n`
  return `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n${proof}\r\n`
}

const kinds: readonly Kind[] = [
  { name: 'HTTP/1', backend: (t) => useDyingHttp1(t, plain, false), target: host, policies: HTTP1 },
  {
    name: 'HTTP/1 over TLS',
    backend: (t) => useDyingHttp1(t, plain, true),
    target: host,
    policies: { ...HTTP1, tls: { insecureSkipVerify: 'All' } },
  },
  {
    name: 'HTTP/2',
    backend: (t) => useDyingHttp2(t, false, false),
    target: host,
    policies: { http: { version: 'HTTP2' } },
    isHttp2: true,
  },
  {
    name: 'HTTP/2 over TLS',
    backend: (t) => useDyingHttp2(t, false, true),
    target: host,
    policies: { http: { version: 'HTTP2' }, tls: { insecureSkipVerify: 'All' } },
    isHttp2: true,
  },
  {
    name: 'gRPC',
    backend: (t) => useDyingHttp2(t, true, false),
    target: host,
    policies: { http: { version: 'HTTP2' } },
    ask: { method: 'POST', headers: { 'content-type': 'application/grpc', te: 'trailers' }, body: '\0\0\0\0\0' },
    isHttp2: true,
    clients: ['HTTP/2'],
  },
  {
    name: 'SSE',
    backend: (t) =>
      useDyingHttp1(
        t,
        { head: EVENTS, half: chunk('data: half\n\n'), rest: `${chunk('data: rest\n\n')}0\r\n\r\n` },
        false,
      ),
    target: host,
    policies: HTTP1,
  },
  {
    name: 'WebSocket',
    backend: (t) =>
      useDyingHttp1(
        t,
        {
          head: switched,
          half: '\x81\x04half',
          // A message and a Close frame.
          rest: '\x81\x04rest\x88\x00',
        },
        false,
      ),
    target: host,
    policies: HTTP1,
    ask: { headers: { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' } },
    isTunnel: true,
  },
  {
    name: 'MCP server',
    backend: (t) =>
      useDyingHttp1(
        t,
        {
          head: EVENTS.replace('text/event-stream', 'application/json'),
          half: chunk(mcpBody.slice(0, 40)),
          rest: `${chunk(mcpBody.slice(40))}0\r\n\r\n`,
        },
        false,
      ),
    target: (port) => ({ mcp: { targets: [{ name: 'a', static: { host: '127.0.0.1', port } }] } }),
    policies: HTTP1,
    ask: {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
      }),
    },
  },
  {
    name: 'model stream',
    backend: (t) =>
      useDyingHttp1(
        t,
        {
          head: EVENTS,
          half: delta({ index: 0, delta: { role: 'assistant', content: 'half' }, finish_reason: null }),
          rest: `${delta({ index: 0, delta: {}, finish_reason: 'stop' })}${chunk('data: [DONE]\n\n')}0\r\n\r\n`,
        },
        false,
      ),
    target: (port) => ({ ai: { provider: { openai: {}, host: '127.0.0.1', port } } }),
    policies: HTTP1,
    ask: {
      path: '/v1/chat/completions',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
    },
  },
]

const rows: string[][] = []

for (const kind of kinds) {
  test(`a ${kind.name} backend that fails`, async (t) => {
    const time = new FakeTime()
    const backend = await kind.backend(t)
    const policies = {
      timeouts: { request: `${LIMIT_MS / 1000}s` },
      ...(kind.policies !== undefined && { backend: kind.policies }),
    }
    const config = httpConfig([
      {
        name: 'refused',
        matches: [{ headers: [{ name: 'x-refused', value: { exact: '1' } }] }],
        policies,
        backends: [kind.target(await closedPort())],
      },
      { name: 'live', ...pathPrefix('/'), policies, backends: [kind.target(backend.port)] },
    ])
    const gateway = await useGateway(t, config, { deadlines: time.deadlines })
    const scene: Scene = { kind, backend, gateway, time, config: JSON.stringify(config) }
    for (const client of kind.clients ?? (['HTTP/1', 'HTTP/2'] as const)) {
      await cell(scene, client, { name: 'refuses connections', begin: () => {} })
      for (const death of deaths) {
        if (death.isHttp2 === true && kind.isHttp2 !== true) continue
        // A tunnel ends only with its connection, and has no timeout.
        if (kind.isTunnel === true ? !death.fitsTunnel : death.isTunnel) continue
        // The garbage may arrive with the head or after it, because no signal tells when the head was read.
        if (kind.name === 'MCP server' && death.name === 'sends garbage inside the body') continue
        await cell(scene, client, death)
      }
    }
  })
}

interface Scene {
  kind: Kind
  backend: DyingBackend
  gateway: TestGateway
  time: FakeTime
  config: string
}

/** Runs one request and adds a row with what each observer reports about it. */
async function cell(scene: Scene, client: 'HTTP/1' | 'HTTP/2', death: Death): Promise<void> {
  const { kind, backend, gateway, time } = scene
  const name = `${kind.name}, ${death.name}, ${client}`
  backend.peer = null
  backend.begin = death.begin
  const before = gateway.records.length
  const earlier = new Set(gateway.recorded().map(({ id }) => id))
  const isRefused = death.name.startsWith('refuses')
  const headers = { ...kind.ask?.headers, ...(isRefused && { 'x-refused': '1' }) }
  const ask: Ask = { path: '/', method: 'GET', body: '', ...kind.ask, headers }
  const traced = gateway.trace()
  const sight: Sight = (client === 'HTTP/1' ? askHttp1 : askHttp2)(gateway.port(), ask)
  let isOver = false
  const over = sight.over.finally(() => (isOver = true))
  if (death.then !== undefined || death.isSilent === true) {
    // The gateway buffers the response of an MCP server until it is complete.
    const comesLate = death.sendsHalf !== true || kind.name === 'MCP server'
    await until(() => isOver || sight.hasHalf || (comesLate && backend.peer !== null))
    if (death.isSilent === true) await advanceUntil(time, () => isOver)
    else if (backend.peer !== null) death.then?.(backend.peer)
  }
  const seen = await over
  await until(() => gateway.records.length > before)
  assert.equal(gateway.records.length, before + 1, name)
  const record = gateway.records[before]!
  const kept = gateway.recorded().find(({ id }) => !earlier.has(id))
  assert.ok(kept !== undefined, name)
  const events = await traced
  const finished = events.at(-1)
  const why = explained(scene, kept)
  hold(name, { death, isTunnel: kind.isTunnel === true, seen, record, kept, metrics: gateway.metrics() })
  // The last event of the trace and the line in the log agree.
  assert.equal(finished?.message.type, 'requestFinished', name)
  assert.equal('error' in finished.message ? finished.message.error : null, record.error, name)
  rows.push([
    kind.name,
    death.name,
    client,
    seen,
    `${record.status === 0 ? '' : `${record.status} `}${record.reason}`,
    kept.outcome + (kept.reason === null ? '' : `, ${kept.reason.code}`),
    why,
  ])
  backend.forget()
}

/** Advances the clock past one timeout after another until the silent backend's request has ended. */
async function advanceUntil(time: FakeTime, holds: () => boolean): Promise<void> {
  for (let i = 0; !holds(); i++) {
    if (i < 10) await time.advance(LIMIT_MS)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

function explained({ config }: Scene, kept: Parameters<typeof explain>[0]): string {
  const loaded = loadConfig(config, { file: 'gateway.yaml', dir: '.', env: {} })
  assert.ok(loaded.ok)
  const { ir, locate = () => null } = loaded
  const { headline } = explain(kept, { isKnown: true, isEarlier: false, live: 1, ir, locate }, null)
  return headline.replaceAll(/127\.0\.0\.1:\d+/g, 'the endpoint').replaceAll(/after \d+ ms/g, 'after a while')
}

interface Cell {
  death: Death
  isTunnel: boolean
  seen: string
  record: TestGateway['records'][number]
  kept: Parameters<typeof explain>[0]
  metrics: string
}

/** Asserts for every cell that no failed response looks complete, and that all observers agree. */
function hold(name: string, { death, isTunnel, seen, record, kept, metrics }: Cell): void {
  const isGood = death.name.endsWith('whole')
  const looksWhole = /^(2\d\d, whole|grpc-status 0)$/.test(seen)
  // The end of a tunnel is the end of its bytes: the close frame inside of it tells the client whether it is whole.
  if (!isTunnel) assert.equal(looksWhole, isGood, `${name}: ${seen}`)
  assert.equal(kept.outcome === 'passed' || kept.outcome === 'slow', isGood, `${name}: ${kept.outcome}`)
  const series = `reason="${record.reason}"`
  assert.ok(metrics.includes(series), `${name}: no metric with ${series}`)
}

after(() => {
  const table = rows.map((row) => `| ${row.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`).join('\n')
  const page = `# When a backend fails

<!-- Written by \`npm test -- upstream-failures\`; do not edit. -->

The table lists every kind of backend, every way in which it can fail a request, and the result for client, log, metric, record
and explanation. The test that writes this page checks every row: an incomplete response never looks complete, the record is
\`failed\`, log and metric have the same \`reason\`, and the trace ends with the error of the log line. A test also
compares the results for clients with Envoy: [the differences](envoy.md#backends-that-fail).

| Backend | What it does | Client | The client sees | Log and metric | Record | Explain |
|---|---|---|---|---|---|---|
${table}
`
  if (readPage() === page) return
  writeFileSync(PAGE, page)
  assert.fail('docs/upstream-failures.md was stale and has been written anew')
})

function readPage(): string {
  try {
    return readFileSync(PAGE, 'utf8')
  } catch {
    return ''
  }
}
