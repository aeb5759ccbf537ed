import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { NO, ok, useAuthorizer } from '../../testing/services/authorizer.ts'
import { request } from '../../testing/client.ts'
import type { TestGateway } from '../../testing/gateway.ts'
import { McpCaller } from '../../testing/mcp/mcp-caller.ts'
import { useMcpServer } from '../../testing/mcp/mcp-server.ts'
import { closedPort, httpConfig, pathPrefix, routeTo, useGateway, useOrigin } from '../../testing/scene.ts'
import { seeded } from '../../testing/seeded.ts'
import type { TraceEvent } from '../trace/trace-event.ts'
import { rebuildEvents } from './rebuild-events.ts'
import type { RequestRecord } from './record.ts'

const IDENTITY = { podName: 'test', namespace: 'default', gateway: 'default' }

/** Returns the part of an event that a record holds; null when it holds none. */
function held({ message, severity }: TraceEvent): object | null {
  switch (message.type) {
    case 'requestStarted':
    case 'backendCallStart':
    case 'requestFinished':
      return { severity, ...message }
    case 'routeSelection':
      // A record has the selected route, not the routes that were evaluated.
      return { severity, type: message.type, selectedRoute: message['selectedRoute'] }
    case 'backendCallResult':
      return { severity, ...message }
    case 'policy': {
      const result = message['result'] as {
        type: string
        reason?: string
        details?: { callout?: unknown; condition?: unknown }
      }
      // Whether a step had nothing to do is not kept.
      const isPassed =
        result.type === 'apply' || (result.type === 'skip' && !/ stopped the request$/.test(result.reason ?? ''))
      return {
        severity,
        type: 'policy',
        kind: message['kind'],
        phase: message['phase'],
        result: isPassed ? 'passed' : withoutCallout(result),
      }
    }
    case 'authorizationResult':
      // Rules that let a request pass are not kept.
      return message['result'] === 'deny' ? { severity, ...message } : null
    case 'requestSnapshot': {
      const { stage } = message
      if (stage !== 'initial request' && stage !== 'route policies') return null
      const { request } = message['requestState'] as { request: Record<string, unknown> }
      const { method, uri, path, pathAndQuery, host, scheme, version, headers } = request
      return {
        type: message.type,
        stage,
        request: { method, uri, path, pathAndQuery, host, scheme, version, headers: shownHeaders(Object(headers)) },
      }
    }
    case 'responseSnapshot':
      return message['stage'] === 'final response'
        ? {
            type: message.type,
            stage: message['stage'],
            response: (message['requestState'] as { response: object }).response,
          }
        : null
    default:
      return null
  }
}

/** Removes the duration of a callout and the text of a condition, which records do not have. */
function withoutCallout(result: { details?: { callout?: unknown; condition?: unknown } }): object {
  if (result.details === undefined) return result
  const { callout: _callout, condition: _condition, ...details } = result.details
  return { ...result, details }
}

/** Traces hide credentials when they are told, begin when the peer was asked who it speaks for, and know nothing of later attempts. */
function shownHeaders(headers: Record<string, string | readonly string[]>): object {
  const names = Object.keys(headers).filter(
    (name) => !/^(x-api-key|authorization|x-forwarded-\w+|x-retry-attempt)$/.test(name),
  )
  return Object.fromEntries(names.toSorted().map((name) => [name, headers[name]]))
}

/** Before a backend was chosen a record does not know how far policies had come; a mock has no address that was called. */
function heldOf(events: readonly TraceEvent[], { attempts, endpoint, calls }: RequestRecord): object[] {
  const wasCalled = endpoint !== null || (calls ?? []).length > 0
  const isKnown = ({ message }: TraceEvent): boolean =>
    (attempts > 0 || message['stage'] !== 'route policies') && (wasCalled || !message.type.startsWith('backendCall'))
  return events
    .filter(isKnown)
    .map(held)
    .filter((event) => event !== null)
}

async function compare(gateway: TestGateway, options: Parameters<typeof request>[1]): Promise<void> {
  const known = gateway.records.length
  // Times of starts are exact to a millisecond only: by them the newest record may be that of the request before.
  const before = gateway.store.positions()
  const live = gateway.trace()
  await request(gateway.port(), options)
  const events = await live
  await gateway.finished(known + 1)
  const [stored, ...others] = gateway.store.since(before).records
  assert.equal(others.length, 0)
  const record = stored?.decode()
  assert.ok(record)
  const rebuilt = rebuildEvents(record, IDENTITY)
  assert.deepEqual(heldOf(rebuilt, record), heldOf(events, record), JSON.stringify(options))
  for (const [i, { eventEnd }] of rebuilt.entries()) assert.ok(i === 0 || eventEnd >= (rebuilt[i - 1]?.eventEnd ?? 0))
  assert.ok((rebuilt.at(-1)?.eventEnd ?? 0) <= record.took)
}

test('a record rebuilt to a trace agrees with the live trace as far as it holds', async (t) => {
  const gateway = await everything(t)
  const random = seeded(14)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  for (let i = 0; i < 90; i++) {
    await compare(gateway, {
      method: pick(['GET', 'POST', 'OPTIONS']),
      path: pick([
        '/open',
        '/key?a=1',
        '/basic',
        '/rules',
        '/limited',
        '/retried',
        '/dead',
        '/direct',
        '/nowhere',
        '/cors',
        '/answer',
        '/changed/a?b=1',
        '/chosen',
        '/asked',
        '/slow',
        '/moved',
      ]),
      headers: {
        ...(random() < 0.3 && { origin: pick(['https://app.example', 'https://evil.example']) }),
        ...(random() < 0.3 && { 'x-api-key': pick(['key-of-team-a', 'wrong-key-here']) }),
        ...(random() < 0.3 && { authorization: `Basic ${Buffer.from('ann:secret').toString('base64')}` }),
        ...(random() < 0.2 && { 'access-control-request-method': 'PUT' }),
        ...(random() < 0.3 && { 'x-team': pick(['a', 'b']) }),
      },
    })
  }
  assert.deepEqual(gateway.bugs, [])
})

test('the same holds for calls to models: whole, streamed, refused by a guard or a limit, and failing', async (t) => {
  const failing = await useOrigin(t, (_seen, response) => void response.writeHead(500).end('{}'))
  const guard = { request: [{ regex: { action: 'Reject', builtins: ['Email'] } }] }
  const chat = (name: string, backend: object, policies: object = {}): object => ({
    name,
    ...pathPrefix(`/${name}`),
    policies: { urlRewrite: { path: { prefix: '/' } }, ...policies },
    backends: [backend],
  })
  const mock = { ai: { provider: { mock: {} } }, policies: { ai: { promptGuard: guard } } }
  const broken = { ai: { provider: { openai: {}, host: '127.0.0.1', port: failing.port } } }
  const gateway = await useGateway(
    t,
    httpConfig(
      [
        chat('mock', mock),
        chat('broken', broken),
        chat('limited', mock, { rateLimit: { local: [{ tokens: 60, unit: 'Hours' }] } }),
      ],
      { frontend: { recorder: { sampling: 'true' } } },
    ),
  )
  const random = seeded(15)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  for (let i = 0; i < 40; i++) {
    const content = pick(['hello', 'write to ann@example.com', 'tell me more'])
    const body = JSON.stringify({ model: 'small', stream: random() < 0.5, messages: [{ role: 'user', content }] })
    await compare(gateway, {
      method: 'POST',
      path: `/${pick(['mock', 'broken', 'limited'])}/v1/${pick(['chat/completions', 'chat/completions', 'nothing'])}`,
      headers: { 'content-type': 'application/json', ...(random() < 0.2 && { authorization: 'Bearer sk-mine' }) },
      body: random() < 0.1 ? 'no JSON' : body,
    })
  }
  assert.deepEqual(gateway.bugs, [])
})

test('and for messages of MCP: listed, called, hidden by a rule, without a session', async (t) => {
  const targets = [{ name: 'one', static: { host: '127.0.0.1', port: (await useMcpServer(t)).port } }]
  const rules = { authorization: { rules: ['mcp.tool.name != "echo"'] } }
  const route = {
    name: 'tools',
    ...pathPrefix('/mcp'),
    policies: { cors: { allowOrigins: ['https://app.example'] }, backend: { mcp: rules } },
    backends: [{ mcp: { targets } }],
  }
  const gateway = await useGateway(t, httpConfig([route], { frontend: { recorder: { sampling: 'true' } } }))
  const { session } = await new McpCaller(gateway.port()).begin()
  await gateway.finished(2)
  const random = seeded(16)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  for (let i = 0; i < 30; i++) {
    const name = pick(['echo', 'add', 'nothing'])
    const [method, params] = pick([
      ['tools/list', {}],
      ['tools/call', { name, arguments: { text: 'x' } }],
      ['ping', {}],
    ])
    await compare(gateway, {
      method: 'POST',
      path: '/mcp',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(random() < 0.8 && { 'mcp-session-id': random() < 0.9 ? session : 'forged' }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: i + 10, method, params }),
    })
  }
  assert.deepEqual(gateway.bugs, [])
})

async function everything(t: TestContext): Promise<TestGateway> {
  let calls = 0
  const origin = await useOrigin(t)
  const flaky = await useOrigin(t, (_seen, response) => {
    response.writeHead(calls++ % 3 === 0 ? 503 : 200).end('ok')
  })
  const failing = await useOrigin(t, (_seen, response) => void response.writeHead(500).end('no'))
  const silent = await useOrigin(t, () => {})
  let asked = 0
  const authorizer = { host: (await useAuthorizer(t, () => (asked++ % 2 === 0 ? NO : ok({})))).host }
  const dead = { host: `127.0.0.1:${await closedPort()}` }
  const cors = { cors: { allowOrigins: ['https://app.example'], allowMethods: ['GET'] } }
  const location = { header: { name: 'x-api-key' } }
  const key = { apiKeyAuthentication: { location, secretRef: { data: { a: { key: 'key-of-team-a' } } } } }
  const route = (prefix: string, policies: object, to: { host: string } = origin): object =>
    routeTo(to, policies, { name: prefix.slice(1), ...pathPrefix(prefix) })
  return useGateway(
    t,
    httpConfig(
      [
        route('/open', { headerModifiers: { request: { set: [{ name: 'x-one', value: '1' }] } } }),
        route('/key', { ...cors, ...key, csrf: {} }),
        route('/basic', {
          basicAuthentication: { users: ['alice:$2y$04$0LlrKdGzhnJOGxe7KgqIJO5SL4Kx58ry5fWpG/O4CkCTWszILvLyO'] },
        }),
        route('/rules', {
          ...key,
          authorization: {
            rules: [{ allow: 'request.headers["x-team"] == "a"' }, { deny: 'request.method == "POST"' }],
          },
        }),
        route('/limited', { ...cors, rateLimit: { local: [{ requests: 3, unit: 'Hours' }] }, csrf: {} }),
        route('/retried', { retry: { attempts: 1, codes: [503] } }, flaky),
        route('/dead', { retry: { attempts: 1, codes: [503] } }, dead),
        route('/direct', { directResponse: { status: 418, body: 'tea' } }),
        route('/cors', cors),
        route('/changed', {
          transformation: { request: { set: [{ name: 'x-size', value: 'string(size(request.path))' }] } },
          urlRewrite: { path: { prefix: '/other' } },
          headerModifiers: { request: { add: [{ name: 'x-team', value: 'added' }], remove: ['origin'] } },
        }),
        route('/chosen', {
          rateLimit: {
            conditional: [
              { condition: 'request.method == "POST"', policy: { local: [{ requests: 1, unit: 'Hours' }] } },
              { policy: { local: [{ requests: 100, unit: 'Hours' }] } },
            ],
          },
        }),
        route('/asked', { extAuth: { backendRef: authorizer } }),
        route('/slow', { timeouts: { request: '30ms' } }, silent),
        route('/moved', { requestRedirect: { scheme: 'https' } }),
        route('/answer', { headerModifiers: { response: { set: [{ name: 'x-two', value: '2' }] } } }, failing),
      ],
      // Those that pass are kept whole too.
      { frontend: { recorder: { sampling: 'true' } } },
    ),
  )
}
