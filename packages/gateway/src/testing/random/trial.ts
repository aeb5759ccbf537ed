import { setTimeout as wait } from 'node:timers/promises'
import { explain } from '../../explain/explain.ts'
import { resourceLocations } from '../../explain/resource-locations.ts'
import { irOfText, textOfIr } from '../../ir/ir-text.ts'
import type { Ir } from '../../ir/resources.ts'
import type { Random } from '../../../../http/src/http1/fuzz/random.ts'
import { loadConfig } from '../../sources/file.ts'
import { type TestGateway, startGateway } from '../gateway.ts'
import { lookupIn } from '../lookup.ts'
import type { RandomConfig } from './random-config.ts'
import { randomRequest, type RandomRequest } from './random-request.ts'
import { sendRequest } from './send-request.ts'
import type { Services } from './services.ts'

interface TrialResult {
  /** The violations, each with the request after which it was seen. */
  findings: string[]
  /** The number of responses by status, or by the way a request ended without a status. */
  outcomes: Map<string, number>
}

const ENV = { SECRET: 'secret-secret' }

/** Starts a gateway with the config and sends it random requests; every one has to end, and none may leave a trace. */
export async function runTrial(
  random: Random,
  config: RandomConfig,
  services: Services,
  { requests, limitMs }: { requests: number; limitMs: number },
): Promise<TrialResult> {
  const findings: string[] = []
  const outcomes = new Map<string, number>()
  const gateway = await startGateway(JSON.stringify(config), {
    dir: services.dir,
    env: ENV,
    // A forward proxy may be asked for the gateway itself: its idle connections there are connections of clients.
    poolIdleTimeoutMs: 50,
    lookup: lookupIn({ localhost: ['127.0.0.1'], 'a.test': ['127.0.0.1'] }),
    fetch: () => Promise.reject(new TypeError('fetch failed')),
  })
  try {
    if (random.chance(15)) await gateway.use(withoutServers(irOf(config, services)))
    const before = await sendRequest(gateway.port(), PLAIN, limitMs)
    const sessions: string[] = []
    const known = { kinds: kindsOf(config), tokens: services.tokens, hosts: services.hosts, sessions }
    for (let left = requests; left > 0 && findings.length === 0;) {
      const batch = Array.from({ length: Math.min(left, random.pick([1, 1, 3])) }, () => randomRequest(random, known))
      left -= batch.length
      if (random.chance(30)) void gateway.trace()
      const sent = batch.map((request) => sendRequest(gateway.port(), request, limitMs))
      // Requests under way end on the config that admitted them.
      if (random.chance(10))
        await gateway.reload(JSON.stringify(random.chance(50) ? withoutRoute(random, config) : config))
      for (const { end, session } of await Promise.all(sent)) {
        if (session !== null) sessions.push(session)
        if (end === 'hung') findings.push('a request did not end')
        outcomes.set(String(end), (outcomes.get(String(end)) ?? 0) + 1)
      }
      if (!(await isQuiet(gateway, limitMs))) findings.push('a connection stays open')
      findings.push(...gateway.bugs.splice(0))
      if (findings.length > 0) findings.push(`after ${batch.map(describe).join('\n')}`)
    }
    const after = await sendRequest(gateway.port(), PLAIN, limitMs)
    const isSteady = !hasListenerPolicies(config)
    if (after.end === 'hung' || (isSteady && after.end !== before.end))
      findings.push(`the plain route says ${after.end}, and said ${before.end} before`)
    findings.push(...explainAll(gateway, config, services))
    findings.push(...gateway.bugs.splice(0))
  } finally {
    await gateway.close()
  }
  return { findings, outcomes }
}

/** Waits until every connection of clients is closed; clients close theirs with each request. */
async function isQuiet(gateway: TestGateway, limitMs: number): Promise<boolean> {
  const endsAt = performance.now() + limitMs
  while (gateway.connectionCount() > 0 && performance.now() < endsAt) await wait(2)
  return gateway.connectionCount() === 0
}

/** Limits and erratic authorizers of a listener decide about the plain route as well. */
function hasListenerPolicies({ binds }: RandomConfig): boolean {
  const [bind] = binds as readonly { listeners: { policies?: object }[] }[]
  return Object.keys(bind?.listeners[0]?.policies ?? {}).length > 0
}

function irOf(config: RandomConfig, { dir }: Services): Ir {
  const loaded = loadConfig(JSON.stringify(config), { file: 'random.yaml', dir, env: ENV })
  if (!loaded.ok) throw new Error('the config that ran does not load')
  return irOfText(textOfIr(loaded.ir))
}

/** MCP backends without servers, as selectors of a cluster leave them that match nothing. */
function withoutServers(ir: Ir): Ir {
  const backends = ir.backends.map((backend) =>
    backend.target.kind === 'mcp' ? { ...backend, target: { ...backend.target, targets: [] } } : backend,
  )
  return { ...ir, backends }
}

/** The config without one of its random routes. */
function withoutRoute(random: Random, config: RandomConfig): RandomConfig {
  const [bind] = config.binds as readonly { listeners: { routes: { name: string }[] }[] }[]
  const [listener] = bind?.listeners ?? []
  if (listener === undefined) return config
  const gone = `r${random.below(Math.max(1, listener.routes.length - 1))}`
  const routes = listener.routes.filter(({ name }) => name !== gone)
  return { ...config, binds: [{ ...bind, listeners: [{ ...listener, routes }] }] }
}

/** Explains every record, as the admin server does; returns the exceptions. */
function explainAll(gateway: TestGateway, config: RandomConfig, services: Services): string[] {
  const ir = irOf(config, services)
  const parts = { isKnown: true, ir, live: 1, isEarlier: false, locate: resourceLocations(ir, 'default/default') }
  return gateway.recorded().flatMap((record) => {
    try {
      explain(record, parts)
      return []
    } catch (error) {
      return [`explaining threw ${error instanceof Error ? error.stack : String(error)} for ${JSON.stringify(record)}`]
    }
  })
}

/** The kinds of the first backends of routes `r0`, `r1` and so on. */
function kindsOf({ binds }: RandomConfig): string[] {
  const [bind] = binds as readonly { listeners: { routes: { name: string; backends?: object[] }[] }[] }[]
  const kinds: string[] = []
  for (const { name, backends } of bind?.listeners[0]?.routes ?? []) {
    if (name !== 'plain') kinds[Number(name.slice(1))] = Object.keys(backends?.[0] ?? {})[0] ?? ''
  }
  return kinds
}

function describe(request: RandomRequest): string {
  const text = JSON.stringify(request)
  return text.length > 2000 ? `${text.slice(0, 2000)}…` : text
}

const PLAIN: RandomRequest = {
  version: 'HTTP/1.1',
  method: 'GET',
  path: '/plain',
  headers: [],
  body: '',
  isCancelled: false,
}
