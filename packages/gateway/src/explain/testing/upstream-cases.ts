import { connect } from 'node:net'
import { request, sendRaw } from '../../testing/client.ts'
import { lookupIn } from '../../testing/lookup.ts'
import { closedPort, httpConfig, routeTo, useOrigin, useTcpServer } from '../../testing/scene.ts'
import type { RefusalCase } from './refusal-case.ts'

const get: RefusalCase['send'] = ({ port }) => request(port)

/** A backend that never answers. */
async function silent(t: Parameters<typeof useTcpServer>[0]) {
  return useTcpServer(t, () => {})
}

/** A client that leaves as soon as the backend has its request. */
function leavingClient(): Pick<RefusalCase, 'config' | 'send'> {
  const asked = Promise.withResolvers<void>()
  return {
    config: async ({ t }) =>
      httpConfig([routeTo(await useTcpServer(t, (socket) => socket.once('data', () => asked.resolve())))]),
    async send({ port }) {
      const socket = connect(port, '127.0.0.1')
      socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
      await asked.promise
      socket.destroy()
    },
  }
}

export const upstreamCases: RefusalCase[] = [
  {
    name: 'a backend that is not there',
    config: async () => httpConfig([routeTo({ host: `127.0.0.1:${await closedPort()}` })]),
    send: get,
    code: 'connect_failed',
    at: 'host: 127.0.0.1',
    passes: /^127\.0\.0\.1:\d+ accepts connections\.$/,
    values: { attempts: 1 },
  },
  {
    name: 'a backend that is not there, after all attempts',
    config: async () => httpConfig([routeTo({ host: `127.0.0.1:${await closedPort()}` }, { retry: { attempts: 2 } })]),
    send: get,
    code: 'connect_failed',
    at: 'host: 127.0.0.1',
    passes: /accepts connections\.$/,
    values: { attempts: 3 },
  },
  {
    name: 'a name that nobody knows',
    config: () => httpConfig([routeTo({ host: 'nowhere.invalid:80' })]),
    options: () => ({ lookup: lookupIn({}) }),
    send: get,
    code: 'dns_failed',
    at: 'host: nowhere.invalid',
    passes: 'the host name of the backend can be resolved.',
  },
  {
    name: 'a backend that breaks off',
    config: async ({ t }) =>
      httpConfig([routeTo(await useTcpServer(t, (socket) => socket.once('data', () => socket.destroy())))]),
    send: ({ port }) => request(port, { method: 'POST', body: 'x' }),
    code: 'connection_lost',
    at: 'host: 127.0.0.1',
    passes: /sends a complete response\.$/,
  },
  {
    name: 'a backend that speaks no HTTP',
    config: async ({ t }) =>
      httpConfig([
        routeTo(await useTcpServer(t, (socket) => socket.once('data', () => socket.end('220 smtp ready\r\n')))),
      ]),
    send: get,
    code: 'bad_response',
    at: 'host: 127.0.0.1',
    passes: /sends valid HTTP\.$/,
  },
  {
    name: 'a backend without TLS where TLS is wanted',
    config: async ({ origin }) => httpConfig([routeTo(origin, { backend: { tls: { sni: 'a.test' } } })]),
    send: get,
    code: 'tls_failed',
    at: 'tls',
    passes: /presents a trusted certificate\.$/,
    alsoPass: ['`tls` of the backend trusts the certificate.'],
  },
  {
    name: 'a backend that takes longer than a connection may',
    config: async ({ t }) =>
      httpConfig([
        routeTo(await useTcpServer(t, (socket) => socket.pause()), {
          backend: { tls: { insecureSkipVerify: 'All' }, tcp: { connectTimeout: '100ms' } },
        }),
      ]),
    send: get,
    code: 'connect_timeout',
    at: 'connectTimeout: 100ms',
    passes: /^127\.0\.0\.1:\d+ accepts connections faster\.$/,
    alsoPass: ['`connectTimeout` is longer.'],
    values: { attempts: 1 },
  },
  {
    name: 'a backend that takes longer than one attempt may',
    config: async ({ t }) => httpConfig([routeTo(await silent(t), { backend: { http: { requestTimeout: '50ms' } } })]),
    send: get,
    code: 'response_timeout',
    at: 'requestTimeout',
    passes: /answers faster\.$/,
    alsoPass: ['`requestTimeout` is longer.'],
  },
  {
    name: 'a request that takes longer than it may',
    config: async ({ t }) => httpConfig([routeTo(await silent(t), { timeouts: { request: '50ms' } })]),
    send: get,
    code: 'request_timeout',
    at: 'request: 50ms',
    passes: 'the backend answers faster.',
    alsoPass: ['`timeouts.request` is longer.'],
    values: { 'timeouts.request': '50 ms' },
    calls: 1,
  },
  {
    name: 'a route whose backends have no weight',
    config: ({ origin }) => httpConfig([{ name: 'shop', backends: [{ host: origin.host, weight: 0 }] }]),
    send: get,
    code: 'no_valid_backends',
    at: 'name: shop',
    passes: 'the route has a backend with a weight above 0.',
  },
  {
    name: 'a backend that itself says no',
    config: async ({ t }) =>
      httpConfig([
        routeTo(
          await useOrigin(t, (_seen, response) => {
            response.statusCode = 503
            response.end('full')
          }),
        ),
      ]),
    send: get,
    code: 'backend_answered',
    at: 'host: 127.0.0.1',
    passes: 'the backend responds with another status.',
    values: { status: 503 },
  },
  {
    name: 'an address that clients may not name',
    config: () => httpConfig([{ backends: [{ dynamicForwardProxy: {} }] }]),
    send: ({ port }) => request(port, { headers: { host: '127.0.0.1:9' } }),
    code: 'address_refused',
    at: 'dynamicForwardProxy',
    passes: 'the client requests an address that `allowCidrs` and `ports` allow.',
    alsoPass: ['the backend allows the address.'],
  },
]

const reading = { transformation: { request: { set: [{ name: 'x-size', value: 'string(size(request.body))' }] } } }

export const messageCases: RefusalCase[] = [
  {
    name: 'a request body that is too large to be read',
    config: ({ origin }) => httpConfig([routeTo(origin, reading)], { frontend: { http: { maxBufferSize: '1Ki' } } }),
    send: ({ port }) => request(port, { method: 'POST', body: 'x'.repeat(2000) }),
    code: 'request_too_large',
    at: 'maxBufferSize',
    passes: 'the body is smaller.',
    alsoPass: ['`frontend.http.maxBufferSize` is larger.'],
    values: { limit: 1024 },
  },
  {
    name: 'an answer that is too large to be read',
    async config({ t }) {
      const large = await useOrigin(t, (_seen, response) => response.end('x'.repeat(2000)))
      const policies = {
        transformation: { response: { set: [{ name: 'x-size', value: 'string(size(response.body))' }] } },
      }
      return httpConfig([routeTo(large, policies)], { frontend: { http: { maxBufferSize: '1Ki' } } })
    },
    send: get,
    code: 'response_too_large',
    at: 'maxBufferSize',
    passes: 'the body is smaller.',
    alsoPass: ['`frontend.http.maxBufferSize` is larger.'],
  },
  {
    name: 'bytes that are no request',
    config: ({ origin }) => httpConfig([routeTo(origin)]),
    send: ({ port }) => sendRaw(port, 'GET / HTTP/9.9\r\n\r\n'),
    code: 'malformed_unsupported_version',
    at: null,
    passes: 'the client sends a valid HTTP message.',
    values: { status: 505 },
  },
  {
    name: 'a head that frames its body in two ways',
    config: ({ origin }) => httpConfig([routeTo(origin)]),
    send: ({ port }) =>
      sendRaw(port, 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n'),
    code: 'malformed_length_and_encoding',
    at: null,
    passes: 'the client sends a valid HTTP message.',
  },
  {
    name: 'a call to a model that is no JSON',
    async config({ t }) {
      const { port } = await useOrigin(t)
      return httpConfig([{ backends: [{ ai: { provider: { openai: {}, host: '127.0.0.1', port } } }] }])
    },
    send: ({ port }) => request(port, { method: 'POST', path: '/v1/chat/completions', body: 'hello' }),
    code: 'unreadable_body',
    at: 'backends',
    passes: 'the client sends a request that the backend supports.',
  },
  {
    name: 'a client that leaves',
    ...leavingClient(),
    code: 'client_gone',
    at: null,
    passes: 'the client waits for the response.',
  },
]
