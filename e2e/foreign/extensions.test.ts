import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { useGrpcCollector } from '../../packages/gateway/src/testing/otlp/otlp-collector.ts'
import { eventually, type Program, useConfigFile, useProgram } from '../../packages/gateway/src/testing/process.ts'
import { httpConfig, pathPrefix, routeTo, useOrigin } from '../../packages/gateway/src/testing/scene.ts'
import { runPython, usePythonServer, withoutPython as skip } from './python.ts'

/** A loaded machine takes its time to answer. */
const PATIENCE = '30s'

describe('a processor in Python', { skip }, () => {
  it('changes headers and bodies that it gets whole', async (t) => {
    const { origin, program } = await useProcessed(t, { requestBodyMode: 'Buffered', responseBodyMode: 'Buffered' })
    const answer = await ask(program, '/', 'größe one')
    assert.deepEqual([answer.status, answer.headers.get('x-status')], [201, '201'])
    // Python's upper case of bytes is that of ASCII.
    assert.equal(await answer.text(), 'GOT: GRößE ONE')
    const [seen] = origin.seen
    assert.deepEqual([seen?.body, seen?.headers['content-length']], ['GRößE ONE', '11'])
    assert.deepEqual([seen?.headers['x-seen'], seen?.headers['x-secret']], ['POST ann', undefined])
  })

  it('changes bodies that are streamed through it', async (t) => {
    const { origin, program } = await useProcessed(t)
    const answer = await ask(program, '/', 'abcdefgh'.repeat(40_000))
    assert.deepEqual([answer.status, answer.headers.get('x-status')], [201, '201'])
    const expected = 'ABCDEFGH'.repeat(40_000)
    assert.ok((await answer.text()) === `GOT: ${expected}`)
    assert.ok(origin.seen[0]?.body === expected)
    assert.equal(origin.seen[0].headers['x-seen'], 'POST ann')
  })

  it('answers at once', async (t) => {
    const { origin, program } = await useProcessed(t)
    const answer = await ask(program, '/at-once', 'one')
    assert.deepEqual([answer.status, answer.headers.get('x-why'), await answer.text()], [418, 'by path', 'from Python'])
    assert.equal(origin.seen.length, 0)
  })
})

describe('an authorizer in Python', { skip }, () => {
  it('allows with headers and metadata, and refuses with an answer of its own', async (t) => {
    const origin = await useOrigin(t)
    const host = `127.0.0.1:${await usePythonServer(t, 'envoy_servers.py')}`
    const extAuth = {
      backendRef: { host },
      grpc: { contextExtensions: { tier: 'gold' } },
      forwardBody: { maxSize: 100 },
      timeout: PATIENCE,
    }
    const authorization = (team: string) => ({ rules: [`extauthz.team == "${team}"`] })
    const program = await useConfig(
      t,
      httpConfig([
        routeTo(origin, { extAuth, authorization: authorization('blue') }, pathPrefix('/blue')),
        routeTo(origin, { extAuth, authorization: authorization('red') }),
      ]),
    )
    const allowed = await ask(program, '/orders?page=2', 'größe', { 'x-user': 'ann' })
    assert.deepEqual([allowed.status, allowed.headers.get('x-decided-by')], [200, 'python'])
    const [seen] = origin.seen
    assert.equal(seen?.body, 'größe')
    assert.equal(Buffer.from(String(seen.headers['x-seen']), 'latin1').toString(), 'POST /orders?page=2 größe gold')
    assert.equal(seen.headers['x-secret'], undefined)
    const denied = await ask(program, '/orders', 'one', { 'x-user': 'bob' })
    assert.deepEqual([denied.status, denied.headers.get('x-seen')], [402, 'POST /orders one gold'])
    assert.equal(await denied.text(), 'only Ann may')
    assert.equal((await ask(program, '/blue', 'one', { 'x-user': 'ann' })).status, 403)
    assert.equal(origin.seen.length, 1)
  })
})

describe('a rate limit service in Python', { skip }, () => {
  it('counts by descriptors and their costs, and speaks to client and backend', async (t) => {
    const { origin, program } = await useLimited(t, [
      { entries: [{ name: 'user', expression: 'request.headers["x-user"]' }], cost: '20' },
    ])
    const told = (answer: Response): (string | null)[] =>
      ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-asked'].map((name) =>
        answer.headers.get(name),
      )
    const answers = []
    for (let i = 0; i < 3; i++) answers.push(await ask(program, '/', 'one', { 'x-user': 'ann' }))
    const [first, second, third] = answers as [Response, Response, Response]
    assert.deepEqual(
      [first.status, second.status, third.status, await third.text()],
      [200, 200, 429, 'from Python: no more'],
    )
    assert.deepEqual([first, second, third].map(told), [
      ['50', '30', '77', '1'],
      ['50', '10', '77', '2'],
      ['50', '0', '77', '3'],
    ])
    assert.equal(third.headers.get('retry-after'), '77')
    const { status } = await ask(program, '/', 'one', { 'x-user': 'größe' })
    assert.equal(status, 200, 'another budget')
    assert.deepEqual(
      origin.seen.map(({ headers }) => Buffer.from(String(headers['x-limited-by']), 'latin1').toString()),
      ['shop user=ann', 'shop user=ann', 'shop user=größe'],
    )
    const unnamed = await ask(program, '/', 'one')
    assert.deepEqual([unnamed.status, unnamed.headers.get('x-asked')], [200, null], 'nobody is asked about nobody')
  })

  it('is told of tokens once they are used', async (t) => {
    const { program } = await useLimited(t, [{ entries: [{ name: 'model', expression: '"m"' }], unit: 'Tokens' }])
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] })
    const chat = (): Promise<Response> =>
      ask(program, '/v1/chat/completions', body, { 'content-type': 'application/json' })
    const first = await chat()
    assert.deepEqual([first.status, first.headers.get('x-ratelimit-remaining')], [200, '50'])
    await eventually('its tokens are counted', async () => (await chat()).status === 429)
  })

  it('that fails refuses, or lets pass where the config says so', async (t) => {
    const broken = [{ entries: [{ name: 'user', expression: '"broken"' }] }]
    for (const [failureMode, status] of [
      ['FailClosed', 500],
      ['FailOpen', 200],
    ] as const) {
      const { origin, program } = await useLimited(t, broken, { failureMode })
      assert.equal((await ask(program, '/', 'one')).status, status, failureMode)
      assert.equal(origin.seen.length, status === 200 ? 1 : 0)
    }
  })
})

describe('servers in Python', { skip }, () => {
  it('that fail let nothing pass', async (t) => {
    const { origin, program } = await useAll(t)
    const processed = await ask(program, '/broken', 'one')
    assert.equal(processed.status, 500)
    assert.match(await processed.text(), /^ext_proc failed: /)
    const authorized = await ask(program, '/broken', 'one', { 'x-authorize': 'yes' })
    assert.equal(authorized.status, 403)
    assert.equal(origin.seen.length, 0)
  })

  for (const [name, more] of [
    ['processor', {}],
    ['authorizer', { 'x-authorize': 'yes', 'x-user': 'ann' }],
    ['rate limit service', { 'x-limit': 'yes' }],
  ] as const) {
    it(`that end their connections time and again cost no request (${name})`, async (t) => {
      const { program } = await useAll(t, '200')
      const connections = new Set<string | null>()
      const askOn = async (): Promise<void> => {
        while (connections.size < 12) {
          const answer = await ask(program, '/', 'one', more)
          const body = await answer.text()
          assert.equal(answer.status, 201, body)
          connections.add(answer.headers.get('x-connection'))
        }
      }
      await Promise.all(Array.from({ length: 6 }, askOn))
    })
  }
})

interface TraceOutput {
  client: { traceId: string; spanId: string }
  backend: { traceId: string; parentId: string; isSampled: boolean }
  team: string | null
}

describe('the OpenTelemetry SDK of Python', { skip }, () => {
  it('has the gateway between its own spans, whatever headers carry them', async (t) => {
    const origin = await useOrigin(t, ({ headers }, response) => response.end(JSON.stringify(headers)))
    const collector = await useGrpcCollector(t)
    const tracing = { backendRef: { host: collector.host }, randomSampling: true }
    const program = await useConfig(t, httpConfig([routeTo(origin)], { frontend: { tracing } }))
    const url = `http://127.0.0.1:${program.port()}/`
    const forms = ['W3C', 'B3 multi', 'B3 single']
    for (const form of forms) {
      const { client, backend } = await runPython<TraceOutput>('trace_client.py', { url, form, sampled: false })
      const asSent = { traceId: client.traceId, parentId: client.spanId, isSampled: false }
      assert.deepEqual(backend, asSent, `${form}, not sampled`)
    }
    for (const [at, form] of forms.entries()) {
      const { client, backend, team } = await runPython<TraceOutput>('trace_client.py', { url, form, sampled: true })
      await collector.taken(2 * (at + 1))
      const spans = collector.spans.filter(({ traceId }) => traceId === client.traceId)
      const own = spans.find(({ parentId }) => parentId === client.spanId)
      const call = spans.find(({ parentId }) => parentId === own?.spanId)
      assert.ok(own !== undefined && call !== undefined, `${form}: the gateway's spans are not below the client's`)
      assert.deepEqual(backend, { traceId: client.traceId, parentId: call.spanId, isSampled: true }, form)
      assert.equal(team, form === 'W3C' ? 'red' : null)
    }
    assert.equal(collector.spans.length, 2 * forms.length)
  })
})

/** A backend that says what it got, behind the processor. */
async function useProcessed(t: TestContext, processingOptions: object = {}) {
  const origin = await useOrigin(t, ({ body }, response) => response.writeHead(201).end(`got: ${body}`))
  const host = `127.0.0.1:${await usePythonServer(t, 'envoy_servers.py')}`
  const extProc = { backendRef: { host }, processingOptions, messageTimeout: PATIENCE }
  return { origin, program: await useConfig(t, httpConfig([routeTo(origin, { extProc })])) }
}

/** A backend, and a model that says it has used 60 tokens, behind the rate limit service. */
async function useLimited(t: TestContext, descriptors: object[], more: object = {}) {
  const origin = await useOrigin(t, ({ url }, response) => {
    if (!url.startsWith('/v1/')) return response.end('x')
    const usage = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 }
    const choices = [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }]
    response.setHeader('content-type', 'application/json')
    return response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage }))
  })
  const host = `127.0.0.1:${await usePythonServer(t, 'envoy_servers.py')}`
  const global = { backendRef: { host }, domain: 'shop', descriptors, timeout: PATIENCE, ...more }
  const policies = { rateLimit: { global } }
  const [address, port] = origin.host.split(':')
  const provider = { openai: {}, host: address, port: Number(port) }
  const models = { ...pathPrefix('/v1'), policies, backends: [{ ai: { provider } }] }
  return { origin, program: await useConfig(t, httpConfig([models, routeTo(origin, policies)])) }
}

/** One of them, by a header. */
async function useAll(t: TestContext, ...args: string[]) {
  const origin = await useOrigin(t, (_seen, response) => response.writeHead(201).end('x'))
  const backendRef = { host: `127.0.0.1:${await usePythonServer(t, 'envoy_servers.py', ...args)}` }
  const extAuth = { backendRef, timeout: PATIENCE }
  const extProc = { backendRef, messageTimeout: PATIENCE }
  const authorize = { matches: [{ headers: [{ name: 'x-authorize', value: { exact: 'yes' } }] }] }
  const limit = { matches: [{ headers: [{ name: 'x-limit', value: { exact: 'yes' } }] }] }
  const descriptors = [{ entries: [{ name: 'request', expression: 'string(random())' }] }]
  const rateLimit = { global: { backendRef, domain: 'shop', descriptors, timeout: PATIENCE } }
  const routes = [
    routeTo(origin, { extAuth }, authorize),
    routeTo(origin, { rateLimit }, limit),
    routeTo(origin, { extProc }),
  ]
  return { origin, program: await useConfig(t, httpConfig(routes)) }
}

async function useConfig(t: TestContext, config: object): Promise<Program> {
  return useProgram(t, { args: ['-f', useConfigFile(t, config).file] })
}

function ask(program: Program, path: string, body: string, more: Record<string, string> = {}): Promise<Response> {
  const headers = { 'x-name': 'ann', 'x-secret': 's', ...more }
  return fetch(`http://127.0.0.1:${program.port()}${path}`, { method: 'POST', headers, body })
}
