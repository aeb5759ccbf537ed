import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { Deadlines } from '@portico/http'
import type { UpstreamError } from '@portico/http/client'
import { type ReceivedResponse, sendOver } from '@portico/http/memory'
import { BindServer, plainHttpBind } from '@portico/http/server'
import { Random } from '../../../../http/src/http1/fuzz/random.ts'
import { HeaderBlock, sourceOf } from '@portico/http'
import { loadConfig } from '../../sources/file.ts'
import { type TestGateway, startGateway } from '../../testing/gateway.ts'
import { lookupIn } from '../../testing/lookup.ts'
import { type RandomConfig, RandomConfigs } from '../../testing/random/random-config.ts'
import { randomRequest, type RandomRequest } from '../../testing/random/random-request.ts'
import type { Schema } from '../../testing/random/schema-value.ts'
import type { Services } from '../../testing/random/services.ts'
import { createSigningKey, ISSUER, keySetOf, sign } from '../../testing/services/issuer.ts'
import { useTlsFiles } from '../../testing/tls-files.ts'
import type { Outcome, SimulatedRequest } from '../outcome.ts'
import { seededRandom } from '../seeded-random.ts'
import { Simulation } from '../simulation.ts'
import { answerWith, readMessage } from '../upstreams.ts'
import { linesOf, type UpstreamMessage, type World } from '../world.ts'
import { replyTo } from './replies.ts'

interface AgreementOptions {
  seed: number
  pairs: number
  /** Requests for each config; each of them is a pair. */
  requests: number
}

interface AgreementResult {
  /** Pairs that were compared, and those that a simulation cannot know. */
  compared: number
  unknown: number
  byOutcome: Map<string, number>
}

/** Sends random requests to random configs, simulated and over real sockets; fails with the first difference. */
export async function compareWithWire(
  t: TestContext,
  { seed, pairs, requests }: AgreementOptions,
): Promise<AgreementResult> {
  const schemaFile = new URL('../../../../../schema/config.json', import.meta.url)
  const schema = JSON.parse(readFileSync(schemaFile, 'utf8')) as Schema
  const random = new Random(seed)
  const wire = await Wire.start(t)
  const configs = new RandomConfigs(random, schema, wire.services, (name) => !LEFT_OUT.has(name))
  const result: AgreementResult = { compared: 0, unknown: 0, byOutcome: new Map() }
  while (result.compared + result.unknown < pairs) {
    const made = configs.make()
    const config = made === null ? null : withLongTimeouts(made)
    if (config === null || /"tls"|"tunnel"|nowhere\.test/.test(JSON.stringify(config))) continue
    await compareConfig(random, config, wire, { seed, requests, result })
  }
  return result
}

async function compareConfig(
  random: Random,
  config: RandomConfig,
  wire: Wire,
  { seed, requests, result }: { seed: number; requests: number; result: AgreementResult },
): Promise<void> {
  const clock = Date.parse('2026-01-31T12:00:00Z') + random.below(1_000_000) * 1000
  const options = { file: 'random.yaml', dir: wire.services.dir, env: ENV }
  const loaded = loadConfig(JSON.stringify(config), options)
  // Long timeouts may be out of range.
  if (!loaded.ok) return
  const world: World = {
    ...{ clock, seed, env: ENV, hosts: HOSTS },
    upstream: (address) =>
      wire.services.hosts.includes(address)
        ? { refusal: null, speaksHttp2: false, answer: (message) => replyTo(message, wire.services.keySet) }
        : null,
  }
  const simulation = await Simulation.start(loaded.ir, world, { hasDetails: false })
  const gateway = await startGateway(JSON.stringify(config), {
    ...{ dir: wire.services.dir, env: ENV, podName: 'simulation' },
    ...{ clock: () => clock, monotonic: () => clock, random: seededRandom(seed) },
    lookup: lookupIn(HOSTS),
    fetch: () => Promise.reject(new TypeError('fetch failed')),
  })
  const kinds = kindsOf(config)
  const sent: string[] = []
  const known = { kinds, tokens: wire.services.tokens, hosts: wire.services.hosts, sessions: [] }
  try {
    for (let left = requests; left > 0; left--) {
      const made = { ...randomRequest(random, known), isCancelled: false }
      const request = simulatedOf(made)
      if (request === null) continue
      const real = await wire.send(gateway, request)
      const outcome = await simulation.send({
        ...request,
        client: { address: '127.0.0.1', port: real.clientPort },
        server: { address: '127.0.0.1', port: gateway.port() },
      })
      if (outcome.unknowns.length > 0) {
        result.unknown++
        // The counters of the two may differ from here on.
        return
      }
      await wire.settle(outcome.upstreamRequests.length)
      sent.push(`${JSON.stringify(made)} → ${outcome.response?.status ?? outcome.closedBy}`)
      const about = `seed ${seed}\nconfig ${JSON.stringify(config)}\nrequests ${sent.join('\n')}`
      assert.deepEqual(simulatedView(outcome), wireView(real, gateway, wire.messages), about)
      result.compared++
      // A time limit has passed: the virtual clock is ahead from here on.
      if (simulation.time.now() !== clock) return
      const kind = `${outcome.access?.reason ?? 'none'} ${outcome.response?.status ?? 0}`
      result.byOutcome.set(kind, (result.byOutcome.get(kind) ?? 0) + 1)
    }
  } finally {
    await gateway.close()
  }
}

/** A real request may take any time on a busy machine; a simulated one takes none. */
export function withLongTimeouts(config: RandomConfig): RandomConfig {
  const text = JSON.stringify(config).replaceAll(TIMEOUT, '"$1":"1h"')
  return JSON.parse(text) as RandomConfig
}

const TIMEOUT = /"(\w*[tT]imeout|request|backendRequest)":"\d+m?s"/g

interface RealResult {
  response: ReceivedResponse | UpstreamError
  clientPort: number
  recordsBefore: number
}

/** Real servers on loopback that answer like the world, and a client. */
export class Wire {
  readonly services: Services
  messages: UpstreamMessage[] = []
  readonly #deadlines: Deadlines

  private constructor(services: Services, deadlines: Deadlines) {
    this.services = services
    this.#deadlines = deadlines
  }

  static async start(t: TestContext): Promise<Wire> {
    const { dir } = useTlsFiles(t, ['a.test'])
    const key = createSigningKey('k1')
    const keySet = keySetOf(key)
    writeFileSync(join(dir, 'secret.txt'), 'secret-secret')
    writeFileSync(join(dir, 'keys.json'), keySet)
    writeFileSync(join(dir, 'openapi.json'), '{"openapi":"3.0.0","info":{"title":"a","version":"1"},"paths":{}}')
    const deadlines = new Deadlines()
    const names = ['origin', 'other', 'authorizer', 'processor', 'limits']
    const vendors = ['openai', 'anthropic', 'gemini', 'bedrock']
    const ports: number[] = []
    const holder: { wire: Wire | null } = { wire: null }
    for (let index = 0; index < names.length + vendors.length; index++) {
      const server: BindServer<never> = new BindServer(
        plainHttpBind((exchange) => {
          const address = `127.0.0.1:${server.port}`
          readMessage(exchange, { address, scheme: 'http' }, (message) => {
            if (message === null) return
            holder.wire?.messages.push(message)
            answerWith(exchange, replyTo(message, keySet))
          })
          exchange.observer ??= { sent() {}, gone() {} }
        }),
        deadlines,
      )
      await server.listen({ port: 0, host: '127.0.0.1', reusePort: false })
      ports.push(server.port)
      t.after(() => server.destroy())
    }
    t.after(() => deadlines.close())
    const services: Services = {
      ...{ dir, names, keySet, issuer: ISSUER, openapi: '{}', mcpPorts: [], stdioArgs: [], ports },
      hosts: ports.map((port) => `127.0.0.1:${port}`),
      providers: Object.fromEntries(vendors.map((vendor, index) => [vendor, ports[names.length + index] ?? 0])),
      backends: names.map((name, index) => ({ name, static: { host: '127.0.0.1', port: ports[index] } })),
      users: ['alice:{SHA}fEqNCco3Yq9h5ZUglD3CZJT4lBs='],
      tokens: [await sign(key, { aud: 'portico', exp: 4_000_000_000 }), await sign(key, { exp: 1 }), 'a.b.c', ''],
    }
    return (holder.wire = new Wire(services, deadlines))
  }

  async send(gateway: TestGateway, request: SimulatedRequest): Promise<RealResult> {
    this.messages = []
    const recordsBefore = gateway.records.length
    const socket = connect(gateway.port(), '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    const clientPort = socket.localPort ?? 0
    const { method, target, authority, headers, body } = request
    const te = headers.some(([name]) => name === 'te')
    const upgrade = headers.find(([name]) => name === 'upgrade')?.[1] ?? ''
    const sent = headers.filter(([name]) => name !== 'te' && name !== 'upgrade')
    const outgoing = { method, target, authority, upgrade, teTrailers: te, headers: HeaderBlock.of(sent) }
    const response = await sendOver(socket, request.version, { ...outgoing, body: sourceOf(body) }, this.#deadlines)
    // The gateway writes the record after the response, up to ten seconds later when shadow policies are running.
    const late = new Promise((resolve) => setTimeout(resolve, 15_000).unref())
    await Promise.race([gateway.finished(recordsBefore + 1), late])
    // A connection that is still open counts against limits of connections.
    const endsAt = performance.now() + 2_000
    while (gateway.connectionCount() > 0 && performance.now() < endsAt) await pause()
    return { response, clientPort, recordsBefore }
  }

  /** Waits for requests that arrive after the response, as mirrored ones may. */
  async settle(count: number): Promise<void> {
    const endsAt = performance.now() + 2_000
    while (this.messages.length < count && performance.now() < endsAt) await pause()
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1))
}

export function simulatedOf(request: RandomRequest): SimulatedRequest | null {
  const host = request.headers.find(([name]) => name === 'host')?.[1] ?? 'localhost'
  const headers = request.headers.filter(([name]) => !['host', 'expect', 'upgrade'].includes(name))
  // A tunnel has no response to compare.
  if (request.method === 'CONNECT') return null
  return {
    ...{ port: null, scheme: 'http', version: request.version, method: request.method, authority: host },
    target: request.path.replaceAll(/[^\x21-\x7e]/g, encodeURIComponent),
    headers: headers.filter(([, value]) => !/[^\x20-\x7e]/.test(value)),
    ...{ body: Buffer.from(request.body), trailers: null, client: { address: '127.0.0.1', port: 0 } },
    server: null,
  }
}

export function simulatedView(outcome: Outcome): object {
  const { response, access } = outcome
  return {
    ...{
      method: access?.method ?? null,
      route: access?.routeName ?? null,
      reason: access?.reason ?? null,
      error: plainError(access?.error),
    },
    endpoint: access?.endpoint ?? null,
    response:
      response === null
        ? 'no response'
        : { ...response, headers: plainHeaders(response.headers), body: response.body.toString('latin1') },
    upstream: outcome.upstreamRequests.map(plainMessage).toSorted(),
  }
}

function wireView(real: RealResult, gateway: TestGateway, messages: readonly UpstreamMessage[]): object {
  const access = gateway.records[real.recordsBefore] ?? null
  const { response } = real
  const received = 'status' in response ? response : null
  return {
    ...{ method: access?.method ?? null, route: access?.routeName ?? null, reason: access?.reason ?? null },
    ...{ error: plainError(access?.error), endpoint: access?.endpoint ?? null },
    response:
      received === null
        ? 'no response'
        : {
            status: received.status,
            headers: plainHeaders(linesOf(received.headers)),
            body: received.body.toString('latin1'),
            trailers: received.trailers === null ? null : linesOf(received.trailers),
            isBroken: received.brokenBy !== null,
          },
    upstream: messages.map(plainMessage).toSorted(),
  }
}

/** Names of keys of limits are parts of hashes with a salt of their own in both. */
function plainError(error: string | null | undefined): string | null {
  return error?.replace(/ of key [\da-f]{8}\b/, ' of key (own)') ?? null
}

/** Ids are random in both, and dates follow the clock. */
function plainHeaders(headers: readonly (readonly [string, string])[]): string[] {
  return headers.map(([name, value]) => `${name}: ${OWN_IDS.has(name) ? '(own)' : value}`)
}

export function plainMessage({
  address,
  scheme,
  version,
  method,
  authority,
  target,
  headers,
  body,
}: UpstreamMessage): string {
  const lines = plainHeaders(headers).join('\n')
  return `${scheme} ${address} ${version}\n${method} ${authority} ${target}\n${lines}\n${body.toString('latin1')}`
}

export function kindsOf({ binds }: RandomConfig): string[] {
  const [bind] = binds as readonly { listeners: { routes: { name: string; backends?: object[] }[] }[] }[]
  const kinds: string[] = []
  for (const { name, backends } of bind?.listeners[0]?.routes ?? []) {
    if (name !== 'plain') kinds[Number(name.slice(1))] = Object.keys(backends?.[0] ?? {})[0] ?? ''
  }
  return kinds
}

export const ENV = { SECRET: 'secret-secret' }
export const HOSTS = { localhost: ['127.0.0.1'], 'a.test': ['127.0.0.1'] }
const OWN_IDS = new Set(['x-portico-decision', 'x-request-id', 'date'])
/** Kinds whose results contain random ids or sealed values, or that need programs. */
export const LEFT_OUT = new Set([
  'mcp',
  // The clocks differ during a delay: a simulation moves its clock, and the gateway's clock stands still in tests.
  'delay',
  'aws',
  'sessionPersistence',
  'tracing',
  'extProc',
  'accessLog',
  'metrics',
  'requestId',
  'proxyProtocol',
])
