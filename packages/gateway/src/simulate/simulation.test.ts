import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { loadConfig } from '../sources/file.ts'
import { printProblems } from '../sources/print-problems.ts'
import type { Outcome, SimulatedRequest } from './outcome.ts'
import { Simulation } from './simulation.ts'
import type { Upstream, World, WorldReply } from './world.ts'

const CLOCK = Date.parse('2026-01-31T12:00:00Z')

const REQUEST: SimulatedRequest = {
  ...{ port: null, scheme: 'http', version: 'HTTP/1.1', method: 'GET', authority: 'a.test', target: '/', headers: [] },
  ...{ body: Buffer.alloc(0), trailers: null, client: { address: '127.0.0.1', port: 4000 }, server: null },
}

function answering(...replies: Partial<WorldReply>[]): Upstream {
  let next = 0
  const plain = { status: 200, headers: [], body: Buffer.from('ok'), trailers: null, delayMs: 0, fault: null }
  const answer = (): WorldReply => ({ ...plain, ...replies[Math.min(next++, replies.length - 1)] })
  return { refusal: null, speaksHttp2: true, answer }
}

/** A simulation of routes, in YAML, with one upstream. */
async function simulate(
  routes: string,
  { upstream = answering({}), ...world }: Partial<Omit<World, 'upstream'>> & { upstream?: Upstream } = {},
): Promise<{ send: (request?: Partial<SimulatedRequest>) => Promise<Outcome>; simulation: Simulation }> {
  const yaml = `binds: [{ port: 8080, listeners: [{ routes: ${routes} }] }]`
  const loaded = loadConfig(yaml, { file: 'simulated.yaml', dir: '.', env: {} })
  assert.ok(loaded.ok, loaded.ok ? '' : printProblems(loaded.problems))
  const whole: World = {
    ...{ clock: CLOCK, seed: 1, env: {}, hosts: {}, ...world },
    upstream: (address) => (address === '127.0.0.1:9000' ? upstream : null),
  }
  const simulation = await Simulation.start(loaded.ir, whole, { hasDetails: true })
  return { simulation, send: (request = {}) => simulation.send({ ...REQUEST, ...request }) }
}

const BACKEND = 'backends: [{ host: "127.0.0.1:9000" }]'

test('a request shows its response, its route, its record, its trace and what the upstream got', async () => {
  const { send } = await simulate(`[{ name: all, policies: { urlRewrite: { path: { prefix: /v1 } } }, ${BACKEND} }]`)
  const outcome = await send({ target: '/a?b=c', headers: [['x-a', '1']] })
  assert.deepEqual([outcome.response?.status, outcome.response?.body.toString()], [200, 'ok'])
  assert.deepEqual([outcome.access?.routeName, outcome.record?.route, outcome.matched?.index], ['all', 'all', 0])
  assert.ok(outcome.events.some(({ message }) => message.type === 'backendCallResult'))
  const [message, ...others] = outcome.upstreamRequests
  assert.deepEqual([message?.address, message?.target, others.length], ['127.0.0.1:9000', '/v1/a?b=c', 0])
  assert.ok(message?.headers.some(([name, value]) => name === 'x-a' && value === '1'))
  assert.deepEqual(outcome.unknowns, [])
})

test('an upstream that the world does not have is unknown, and gets its request', async () => {
  const { send } = await simulate('[{ name: all, backends: [{ host: "other.test:80" }] }]')
  const { unknowns, upstreamRequests, response } = await send()
  assert.deepEqual(unknowns, [{ kind: 'upstream', of: 'other.test:80', after: 0 }])
  assert.equal(upstreamRequests[0]?.address, 'other.test:80')
  assert.notEqual(response?.status, 200)
})

test('a late response passes the clock at once, and the time limits that are due before', async () => {
  const routes = `[{ name: all, policies: { timeouts: { request: 10s } }, ${BACKEND} }]`
  const startedAt = performance.now()
  const late = await simulate(routes, { upstream: answering({ delayMs: 9_000 }) })
  const outcome = await late.send()
  assert.deepEqual([outcome.response?.status, outcome.access?.durationMs], [200, 9_000])
  assert.equal(late.simulation.time.now(), CLOCK + 9_000)
  const silent = await simulate(routes, { upstream: answering({ fault: 'silent' }) })
  const timedOut = await silent.send()
  assert.deepEqual([timedOut.response?.status, timedOut.access?.reason], [504, 'Timeout'])
  assert.equal(silent.simulation.time.now(), CLOCK + 10_000)
  assert.ok(performance.now() - startedAt < 9_000, 'nothing waits in real time')
})

test('a retry waits on the virtual clock', async () => {
  const routes = `[{ name: all, policies: { retry: { attempts: 2, codes: [503], backoff: 5s } }, ${BACKEND} }]`
  const { send, simulation } = await simulate(routes, { upstream: answering({ status: 503 }, { status: 503 }, {}) })
  const { response, upstreamRequests } = await send()
  assert.deepEqual([response?.status, upstreamRequests.length], [200, 3])
  assert.ok(simulation.time.now() > CLOCK + 1_000)
})

test('an upstream that never answers is given up by the limit of the connection, half an hour later', async () => {
  const { send, simulation } = await simulate(`[{ name: all, ${BACKEND} }]`, {
    upstream: answering({ fault: 'silent' }),
  })
  assert.equal((await send()).response?.status, 504)
  assert.ok(simulation.time.now() >= CLOCK + 30 * 60_000)
})

test('refused and reset connections fail as on the wire', async () => {
  const routes = `[{ name: all, ${BACKEND} }]`
  const refused = await simulate(routes, { upstream: { ...answering({}), refusal: 'ECONNREFUSED' } })
  const away = await refused.send()
  assert.deepEqual([away.response?.status, away.access?.reason], [503, 'UpstreamFailure'])
  const broken = await simulate(routes, { upstream: answering({ fault: 'reset' }) })
  const lost = await broken.send({ method: 'POST' })
  assert.deepEqual([lost.response?.status, lost.access?.error], [503, 'connection closed before the response'])
})

test('counters are kept between requests, begin empty, and follow the clock', async () => {
  const routes = `[{ name: all, policies: { rateLimit: { local: [{ requests: 2, unit: Minutes }] } }, ${BACKEND} }]`
  const first = await simulate(routes)
  const statuses: (number | undefined)[] = []
  for (let sent = 0; sent < 3; sent++) statuses.push((await first.send()).response?.status)
  assert.deepEqual(statuses, [200, 200, 429])
  first.simulation.time.moveTo(CLOCK + 60_000)
  assert.equal((await first.send()).response?.status, 200)
  assert.equal((await (await simulate(routes)).send()).response?.status, 200)
})

test('the same seed chooses the same backends', async () => {
  const routes = '[{ name: all, backends: [{ host: "127.0.0.1:9000" }, { host: "127.0.0.1:9001" }] }]'
  const run = async (seed: number): Promise<string> => {
    const { send } = await simulate(routes, { seed })
    let chosen = ''
    for (let sent = 0; sent < 20; sent++) chosen += (await send()).upstreamRequests[0]?.address.at(-1)
    return chosen
  }
  const [one, same, other] = [await run(1), await run(1), await run(2)]
  assert.equal(one, same)
  assert.notEqual(one, other)
  assert.match(one, /0.*1|1.*0/)
})

test('HTTP/2 clients and backends', async () => {
  const { send } = await simulate(`[{ name: all, ${BACKEND} }]`, {
    upstream: answering({ trailers: [['grpc-status', '0']], headers: [['content-type', 'application/grpc']] }),
  })
  const headers = [
    ['content-type', 'application/grpc'],
    ['te', 'trailers'],
  ] as const
  const outcome = await send({ version: 'HTTP/2', method: 'POST', headers, body: Buffer.alloc(5) })
  assert.equal(outcome.upstreamRequests[0]?.version, 'HTTP/2')
  assert.deepEqual(outcome.response?.trailers, [['grpc-status', '0']])
})

test('names have the addresses of the world', async () => {
  const routes = '[{ name: all, backends: [{ dynamicForwardProxy: { allowCidrs: [127.0.0.0/8], ports: [9000] } }] }]'
  const { send } = await simulate(routes, { hosts: { 'inner.test': ['127.0.0.1'], 'gone.test': [] } })
  assert.equal((await send({ authority: 'inner.test:9000' })).response?.status, 200)
  assert.equal((await send({ authority: 'gone.test:9000' })).access?.reason, 'NoHealthyBackend')
})

test('whether a forward proxy may reach a name without addresses is unknown, unless the port decides', async () => {
  const { send } = await simulate('[{ name: all, backends: [{ dynamicForwardProxy: { ports: [9000] } }] }]')
  const { unknowns } = await send({ authority: 'inner.test:9000' })
  assert.deepEqual(unknowns, [{ kind: 'name', of: 'inner.test', after: 0 }])
  const other = await send({ authority: 'inner.test:9001' })
  assert.deepEqual([other.unknowns, other.access?.error], [[], 'port 9001 is not allowed'])
})

test('a request to a port or a scheme without a listener is unknown', async () => {
  const { send } = await simulate(`[{ name: all, ${BACKEND} }]`)
  for (const wrong of [{ port: 9999 }, { scheme: 'https' }] as const) {
    const { unknowns, response } = await send(wrong)
    assert.deepEqual([unknowns[0]?.kind, response], ['listener', null])
  }
})

test('the cost of a simple request', async (t: TestContext) => {
  const routes = '[{ name: all, policies: { directResponse: { status: 200, body: hi } } }]'
  const loaded = loadConfig(`binds: [{ port: 8080, listeners: [{ routes: ${routes} }] }]`, {
    file: 'a',
    dir: '.',
    env: {},
  })
  assert.ok(loaded.ok)
  const world = { clock: CLOCK, seed: 1, env: {}, hosts: {}, upstream: () => null }
  const simulation = await Simulation.start(loaded.ir, world, { hasDetails: false })
  const run = async (requests: number): Promise<void> => {
    for (let sent = 0; sent < requests; sent++) {
      const { response } = await simulation.send(REQUEST)
      assert.equal(response?.status, 200)
    }
  }
  await run(300)
  const before = process.cpuUsage()
  const requests = 1_000
  await run(requests)
  const { user, system } = process.cpuUsage(before)
  t.diagnostic(`${((user + system) / requests).toFixed(0)} µs of CPU for each request`)
})
