import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import type { TestGateway } from '../../testing/gateway.ts'
import { closedPort, httpConfig, pathPrefix, routeTo, useGateway, useOrigin } from '../../testing/scene.ts'
import { seeded } from '../../testing/seeded.ts'
import type { TraceEvent } from '../trace/trace-event.ts'
import { rebuildEvents } from './rebuild-events.ts'

const IDENTITY = { podName: 'test', namespace: 'default', gateway: 'default' }

/** What a record holds of an event; null for what it does not. */
function held({ message, severity }: TraceEvent): object | null {
  switch (message.type) {
    case 'requestStarted':
    case 'backendCallStart':
    case 'requestFinished':
      return { severity, ...message }
    case 'routeSelection':
      // Of those that were looked at, a record has the one that was taken.
      return { severity, type: message.type, selectedRoute: message['selectedRoute'] }
    case 'backendCallResult':
      return { severity, ...message }
    case 'policy': {
      const result = message['result'] as { type: string; reason?: string }
      // Whether a step had nothing to do is not kept.
      const isPassed =
        result.type === 'apply' || (result.type === 'skip' && !/ stopped the request$/.test(result.reason ?? ''))
      return {
        severity,
        type: 'policy',
        kind: message['kind'],
        phase: message['phase'],
        result: isPassed ? 'passed' : result,
      }
    }
    case 'authorizationResult':
      // Rules that let a request pass are not kept.
      return message['result'] === 'deny' ? { severity, ...message } : null
    case 'requestSnapshot': {
      if (message['stage'] !== 'initial request') return null
      const { method, uri, path, pathAndQuery, host, scheme, version } = (
        message['requestState'] as { request: Record<string, unknown> }
      ).request
      return {
        type: message.type,
        stage: message['stage'],
        request: { method, uri, path, pathAndQuery, host, scheme, version },
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

function heldOf(events: readonly TraceEvent[]): object[] {
  return events.map(held).filter((event) => event !== null)
}

async function compare(gateway: TestGateway, options: Parameters<typeof request>[1]): Promise<void> {
  const known = gateway.records.length
  const live = gateway.trace()
  await request(gateway.port(), options)
  const events = await live
  await gateway.finished(known + 1)
  const [record] = gateway.recorded()
  assert.ok(record !== undefined)
  const rebuilt = rebuildEvents(record, IDENTITY)
  assert.deepEqual(heldOf(rebuilt), heldOf(events), JSON.stringify(options))
  for (const [i, { eventEnd }] of rebuilt.entries()) assert.ok(i === 0 || eventEnd >= (rebuilt[i - 1]?.eventEnd ?? 0))
  assert.ok((rebuilt.at(-1)?.eventEnd ?? 0) <= record.took)
}

test('a record rebuilt to a trace agrees with the live trace as far as it holds', async (t) => {
  const gateway = await everything(t)
  const random = seeded(14)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  for (let i = 0; i < 60; i++) {
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

async function everything(t: TestContext): Promise<TestGateway> {
  let calls = 0
  const origin = await useOrigin(t)
  const flaky = await useOrigin(t, (_seen, response) => {
    response.writeHead(calls++ % 3 === 0 ? 503 : 200).end('ok')
  })
  const failing = await useOrigin(t, (_seen, response) => void response.writeHead(500).end('no'))
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
        route('/answer', { headerModifiers: { response: { set: [{ name: 'x-two', value: '2' }] } } }, failing),
      ],
      // Those that pass are kept whole too.
      { frontend: { recorder: { sampling: 'true' } } },
    ),
  )
}
