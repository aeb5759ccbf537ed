import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, test, type TestContext } from 'node:test'
import { END_HEADERS, END_STREAM } from '../../../http/src/testing/frame-client.ts'
import { denied, ok, option, useAuthorizer } from '../testing/services/authorizer.ts'
import { exchangeRaw, request, sendRaw } from '../testing/client.ts'
import { useFrameBackend } from '../testing/http/frame-backend.ts'
import { useLimitServer } from '../testing/services/limit-server.ts'
import { agree, answerTo, headers, immediate, useAnsweringProcessor } from '../testing/services/processor.ts'
import type { OriginHandler } from '../testing/origin.ts'
import { closedPort, httpConfig, routeTo, useGateway, useOrigin } from '../testing/scene.ts'
import '../testing/all-features.ts'

/**
 * A header that a service sets and that cannot stand in a message: the request is refused, because without the header the
 * backend would take the client's own of that name for the service's.
 */

type Policies = (t: TestContext, header: [name: string, value: string], failureMode: string) => Promise<object>

const services: Readonly<Record<string, Policies>> = {
  'extAuth, for the backend': async (t, header, failureMode) => {
    const { host } = await useAuthorizer(t, () => ok({ headers: [option(...header)] }))
    return { extAuth: { backendRef: { host }, grpc: {}, failureMode } }
  },
  'extAuth, for the client': async (t, header, failureMode) => {
    const { host } = await useAuthorizer(t, () => ok({ responseHeadersToAdd: [option(...header)] }))
    return { extAuth: { backendRef: { host }, grpc: {}, failureMode } }
  },
  'extAuth, with a refusal': async (t, header, failureMode) => {
    const { host } = await useAuthorizer(t, () => denied({ headers: [option(...header)] }))
    return { extAuth: { backendRef: { host }, grpc: {}, failureMode } }
  },
  'extAuth of a backend': async (t, header, failureMode) => {
    const { host } = await useAuthorizer(t, () => ok({ headers: [option(...header)] }))
    return { backend: { extAuth: { backendRef: { host }, grpc: {}, failureMode } } }
  },
  'rateLimit, for the backend': (t, header, failureMode) =>
    limitedBy(t, { requestHeadersToAdd: [wireHeader(header)] }, failureMode),
  'rateLimit, for the client': (t, header, failureMode) =>
    limitedBy(t, { responseHeadersToAdd: [wireHeader(header)] }, failureMode),
  'extProc, the head of the request': (t, header, failureMode) =>
    processedBy(t, 'requestHeaders', header, { failureMode }),
  'extProc, with the body of the request': (t, header, failureMode) =>
    processedBy(t, 'requestBody', header, { failureMode }),
  'extProc, the head of the response': (t, header, failureMode) =>
    processedBy(t, 'responseHeaders', header, { failureMode }),
  'extProc, with the body of the response': (t, header, failureMode) =>
    processedBy(t, 'responseBody', header, { failureMode }),
  'extProc, with an answer of its own': async (t, [name, value], failureMode) => {
    const { host } = await useAnsweringProcessor(t, () => immediate(403, '', { [name]: value }))
    return { extProc: { backendRef: { host }, failureMode } }
  },
}

const SECRET = 'token-of-ann'
const invalid: Readonly<Record<string, [name: string, value: string]>> = {
  'a line break': ['x-user', `${SECRET}\nb`],
  'a carriage return at the end': ['x-user', `${SECRET}\r`],
  NUL: ['x-user', `${SECRET}\0`],
  'a control character': ['x-user', `${SECRET}\x7f`],
  'a blank in the name': ['x user', SECRET],
}

for (const [service, policies] of Object.entries(services)) {
  describe(service, () => {
    for (const [what, header] of Object.entries(invalid)) {
      for (const failureMode of ['FailClosed', 'FailOpen']) {
        test(`${what} is refused with ${failureMode}, logged, and named in the trace`, async (t) => {
          const { gateway, origin, ask } = await setUp(t, await policies(t, header, failureMode))
          const traced = gateway.trace()
          const answer = await ask()
          assert.equal(answer.status, 500)
          await gateway.finished(1)
          const [record] = gateway.records
          assert.match(record?.error ?? '', /invalid header x.user/)
          assert.ok(
            gateway.warnings.some((line) => /x.user/.test(line)),
            gateway.warnings.join(),
          )
          const trace = JSON.stringify(await traced)
          assert.match(trace, /x.user/)
          for (const told of [trace, answer.text, gateway.warnings.join(), gateway.lines.join()]) {
            assert.ok(!told.includes(SECRET), told)
          }
          if (!service.includes('response')) assert.equal(origin.seen.length, 0)
        })
      }
    }
  })
}

/** An HTTP authorizer that writes its answer byte by byte, so that it can say what no library lets it. */
async function useRawAuthorizer(t: TestContext, answer: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('extAuth by HTTP/2', () => {
  const fields: Readonly<Record<string, [name: string, value: string]>> = {
    'a line break': ['x-user', 'ann\r\nb'],
    NUL: ['x-user', 'ann\0'],
    'a blank in the name': ['x user', 'ann'],
  }
  for (const [what, field] of Object.entries(fields)) {
    for (const failureMode of ['FailClosed', 'FailOpen']) {
      test(`${what} is refused with ${failureMode}`, async (t) => {
        const origin = await useOrigin(t)
        const authorizer = await useFrameBackend(t, (connection, stream) => {
          connection.head(stream, [field], END_HEADERS | END_STREAM)
        })
        const extAuth = { backendRef: { name: 'auth' }, http: { allowedResponseHeaders: ['x-user'] }, failureMode }
        const { port } = authorizer
        const backends = [
          { name: 'auth', static: { host: '127.0.0.1', port }, policies: { http: { version: 'HTTP2' } } },
        ]
        const gateway = await useGateway(t, httpConfig([routeTo(origin, { extAuth })], { backends }))
        const { status } = await request(gateway.port(), { headers: { 'x-user': 'admin' } })
        assert.equal(status, 500)
        assert.equal(origin.seen.length, 0)
        await gateway.finished(1)
        assert.match(gateway.records[0]?.error ?? '', /malformed response head \(bad_header_(name|value)\)/)
      })
    }
  }
})

describe('extAuth by HTTP', () => {
  const lines: Readonly<Record<string, string>> = {
    'a control character': 'x-user: ann\x01',
    NUL: 'x-user: ann\0',
    'a lone carriage return': 'x-user: ann\rb',
    DEL: 'x-user: ann\x7f',
    'a line that goes on in the next': 'x-user: ann\r\n b',
    'a blank in the name': 'x user: ann',
  }
  for (const [what, line] of Object.entries(lines)) {
    for (const failureMode of ['FailClosed', 'FailOpen']) {
      for (const phase of ['route', 'backend']) {
        test(`${what} is refused with ${failureMode}, for a ${phase}`, async (t) => {
          const host = await useRawAuthorizer(t, `HTTP/1.1 200 OK\r\n${line}\r\ncontent-length: 0\r\n\r\n`)
          const extAuth = { backendRef: { host }, http: { allowedResponseHeaders: ['x-user'] }, failureMode }
          const { gateway, origin, ask } = await setUp(t, phase === 'route' ? { extAuth } : { backend: { extAuth } })
          assert.equal((await ask()).status, 500)
          assert.equal(origin.seen.length, 0)
          await gateway.finished(1)
          assert.match(gateway.records[0]?.error ?? '', /external authorization failed: /)
          assert.equal(gateway.warnings.length, 1)
        })
      }
    }
  }

  for (const phase of ['route', 'backend']) {
    test(`with FailOpen a header of the authorizer is not the client's to set, for a ${phase}`, async (t) => {
      const extAuth = {
        backendRef: { host: `127.0.0.1:${await closedPort()}` },
        http: { allowedResponseHeaders: ['X-User'] },
        failureMode: 'FailOpen',
      }
      const { gateway, origin, ask } = await setUp(t, phase === 'route' ? { extAuth } : { backend: { extAuth } })
      const traced = gateway.trace()
      assert.equal((await ask({ x_user: 'admin', 'x-other': 'kept' })).status, 200)
      const { 'x-user': user, x_user: alike, 'x-other': other } = origin.seen[0]!.headers
      assert.deepEqual([user, alike, other], [undefined, undefined, 'kept'])
      assert.match(JSON.stringify(await traced), /no_decision/)
    })
  }
})

describe('extProc, trailers', () => {
  for (const [what, header] of Object.entries(invalid)) {
    for (const failureMode of ['FailClosed', 'FailOpen']) {
      test(`${what} of a request is refused with ${failureMode}`, async (t) => {
        const policies = await trailersBy(t, 'requestTrailers', header, failureMode)
        const { gateway, origin } = await setUp(t, policies)
        const body = '5\r\nhello\r\n0\r\nx-sum: 42\r\n\r\n'
        const head = 'POST / HTTP/1.1\r\nhost: a\r\nx-user: admin\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n'
        const { status } = await sendRaw(gateway.port(), `${head}connection: close\r\n\r\n${body}`)
        assert.equal(status, 500)
        await gateway.finished(1)
        assert.match(gateway.records[0]?.error ?? '', /invalid header x.user/)
        // The backend may have got the beginning of the body, and never its end.
        assert.ok(origin.seen.every(({ body: got }) => got !== 'hello'))
      })

      test(`${what} of a response cuts the response with ${failureMode}`, async (t) => {
        const policies = await trailersBy(t, 'responseTrailers', header, failureMode)
        const { gateway } = await setUp(t, policies, (_seen, response) => {
          response.writeHead(200, { trailer: 'x-check' })
          response.write('from ')
          response.addTrailers({ 'x-check': 'ok' })
          response.end('origin')
        })
        const asked = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
        const told = await exchangeRaw(gateway.port(), asked, () => false)
        assert.ok(!told.includes('\r\n0\r\n') && !told.includes(SECRET), told)
        await gateway.finished(1)
        assert.match(gateway.records[0]?.error ?? '', /invalid header x.user/)
        assert.equal(gateway.records[0]?.reason, 'ExtProc')
      })
    }
  }
})

test('headers that no service may set are ignored, and blanks at the ends of a value are valid', async (t) => {
  const { host } = await useAuthorizer(t, () =>
    ok({ headers: [option('content-length', '5\n'), option(':path', '/x\n'), option('x-user', ' ann\t')] }),
  )
  const { origin, ask } = await setUp(t, { extAuth: { backendRef: { host }, grpc: {} } })
  assert.equal((await ask()).status, 200)
  assert.equal(origin.seen[0]!.headers['x-user'], 'ann')
})

test('a request over its limit stays one, without the header', async (t) => {
  const policies = await limitedBy(
    t,
    { overallCode: 2, responseHeadersToAdd: [wireHeader(['x-a', 'a\n'])] },
    'FailOpen',
  )
  const { ask } = await setUp(t, policies)
  const { status, headers: told } = await ask()
  assert.deepEqual([status, told['x-a']], [429, undefined])
})

test('a processor removes a header in every spelling that backends fold into its name', async (t) => {
  const processor = await useAnsweringProcessor(t, (said) =>
    said.request?.$case === 'requestHeaders' ? answerTo('requestHeaders', headers({}, ['x-user'])) : agree(said),
  )
  const { origin, ask } = await setUp(t, { extProc: { backendRef: { host: processor.host } } })
  assert.equal((await ask({ x_user: 'admin' })).status, 200)
  assert.deepEqual([origin.seen[0]!.headers['x-user'], origin.seen[0]!.headers['x_user']], [undefined, undefined])
})

async function setUp(
  t: TestContext,
  policies: object,
  answer: OriginHandler = (_seen, response) => response.end('from origin'),
) {
  const origin = await useOrigin(t, answer)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
  const ask = (more: Record<string, string> = {}) =>
    request(gateway.port(), { method: 'POST', headers: { 'x-user': 'admin', ...more }, body: 'hello' })
  return { gateway, origin, ask }
}

function wireHeader([key, value]: [name: string, value: string]) {
  return { key, value, rawValue: new Uint8Array() }
}

async function limitedBy(t: TestContext, answer: object, failureMode: string): Promise<object> {
  const { host } = await useLimitServer(t, () => answer)
  const descriptors = [{ entries: [{ name: 'all', expression: '"1"' }] }]
  return { rateLimit: { global: { backendRef: { host }, domain: 'shop', descriptors, failureMode } } }
}

/** A processor that changes trailers; bodies come back as they went. */
async function trailersBy(
  t: TestContext,
  part: 'requestTrailers' | 'responseTrailers',
  [name, value]: [name: string, value: string],
  failureMode: string,
): Promise<object> {
  const processor = await useAnsweringProcessor(t, (said) =>
    said.request?.$case === part ? answerTo(part, headers({ [name]: value })) : agree(said),
  )
  const processingOptions = { requestBodyMode: 'FullDuplexStreamed', responseBodyMode: 'FullDuplexStreamed' }
  return { extProc: { backendRef: { host: processor.host }, processingOptions, failureMode } }
}

type ProcessedPart = 'requestHeaders' | 'requestBody' | 'responseHeaders' | 'responseBody'

async function processedBy(
  t: TestContext,
  part: ProcessedPart,
  [name, value]: [name: string, value: string],
  more: object,
): Promise<object> {
  const processor = await useAnsweringProcessor(t, (said) => {
    const at = said.request?.$case
    if (at === part) return answerTo(part, headers({ [name]: value }))
    return at === 'requestBody' || at === 'responseBody' ? answerTo(at) : agree(said)
  })
  const processingOptions = { requestBodyMode: 'Buffered', responseBodyMode: 'Buffered' }
  return { extProc: { backendRef: { host: processor.host }, processingOptions, ...more } }
}
