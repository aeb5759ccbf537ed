import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { test } from 'node:test'
import { END_HEADERS, END_STREAM } from '../net/http2/test-client.ts'
import { exchangeRaw, request, sendRaw } from '../testing/client.ts'
import { type BackendConnection, useFrameBackend } from '../testing/frame-backend.ts'
import { httpConfig, routeTo, useGateway, useTcpServer } from '../testing/scene.ts'

/** Responses of HTTP/2 backends that break the rules before anything of them was handed on: 502. */

const CASES: Record<string, (connection: BackendConnection, stream: number) => void> = {
  'more DATA than content-length': (connection, stream) => {
    connection.head(stream, [['content-length', '2']])
    connection.data(stream, 'more', true)
  },
  'two lengths': (connection, stream) => {
    connection.head(stream, [
      ['content-length', '2'],
      ['content-length', '3'],
    ])
    connection.data(stream, 'ok', true)
  },
  'a reset with its head': (connection, stream) => {
    connection.head(stream)
    connection.reset(stream, 2)
  },
  'no status': (connection, stream) => connection.trailers(stream, [['x', 'y']]),
  'DATA before a head': (connection, stream) => connection.data(stream, 'early', true),
  'a header of the connection': (connection, stream) =>
    connection.head(stream, [['connection', 'close']], END_HEADERS | END_STREAM),
  'a name in upper case': (connection, stream) => connection.head(stream, [['X-Upper', '1']], END_HEADERS | END_STREAM),
}

for (const [name, answer] of Object.entries(CASES)) {
  test(`a response with ${name} is 502 or 503`, async (t) => {
    // In one write: nothing of it has been handed on when the fault is found.
    const backend = await useFrameBackend(t, (connection, stream) => {
      connection.raw.cork()
      answer(connection, stream)
      connection.raw.uncork()
    })
    const gateway = await useGateway(t, httpConfig([routeTo(backend, { backend: { http: { version: 'HTTP2' } } })]))
    const { status, body, text } = await request(gateway.port())
    assert.ok(status === 502 || status === 503, text)
    assert.match(body, /^upstream (response invalid|call failed): /)
    await gateway.finished(1)
    assert.equal(gateway.records[0]!.reason, 'UpstreamFailure')
  })
}

/** Fields that no field of HTTP/2 may be; the runtime drops them without a word, and with them what they would inject. */
const INVALID_FIELDS: [string, string][] = [
  ['x-split', 'a\r\nset-cookie: b=c'],
  ['x-cr', 'a\rb'],
  ['x-nul', 'a\0b'],
  ['x-blank', ' a '],
  ['x bad', 'a'],
  ['x:bad', 'a'],
  ['', 'a'],
]

for (const client of ['HTTP/1', 'HTTP/2'] as const) {
  test(`fields that no field may be reach no ${client} client, and split no message`, async (t) => {
    const backend = await useFrameBackend(t, (connection, stream) => {
      connection.head(stream, [['x-first', 'a'], ...INVALID_FIELDS, ['x-last', 'a']])
      connection.data(stream, 'body')
      connection.trailers(stream, [['x-early', 'a'], ...INVALID_FIELDS, ['x-late', 'a']])
    })
    const gateway = await useGateway(t, httpConfig([routeTo(backend, { backend: { http: { version: 'HTTP2' } } })]))
    const names = client === 'HTTP/1' ? await namesByHttp1(gateway.port()) : await namesByHttp2(gateway.port())
    assert.deepEqual(names, ['x-first', 'x-last', 'x-early', 'x-late'])
  })
}

/** Names of the fields that a client gets of the head and the trailers, without those of the gateway. */
async function namesByHttp1(port: number): Promise<string[]> {
  const bytes = 'GET / HTTP/1.1\r\nhost: a\r\nte: trailers\r\nconnection: te, close\r\n\r\n'
  const { text } = await sendRaw(port, bytes)
  const own = /^(HTTP\/1.1 200 OK|[0-9a-f]+|body|(date|transfer-encoding|connection|trailer): .*|)$/
  const lines = text.split('\r\n').filter((line) => !own.test(line))
  return lines.map((line) => line.replace(/: a$/, ''))
}

async function namesByHttp2(port: number): Promise<string[]> {
  const session = connect(`http://127.0.0.1:${port}`)
  const stream = session.request({ ':path': '/', te: 'trailers' })
  const raw: string[] = []
  stream.on('response', (_fields, _flags, fields: string[]) => raw.push(...fields))
  stream.on('trailers', (_fields, _flags, fields: string[]) => raw.push(...fields))
  stream.resume()
  await once(stream, 'close')
  session.destroy()
  return raw.filter((name, at) => at % 2 === 0 && name !== ':status' && name !== 'date')
}

for (const version of ['HTTP1', 'HTTP2'] as const) {
  test(`a head that comes alone from a backend of ${version} is handed on before its body`, async (t) => {
    const backend =
      version === 'HTTP2'
        ? await useFrameBackend(t, (connection, stream) => connection.head(stream))
        : await useTcpServer(t, (socket) =>
            socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')),
          )
    const gateway = await useGateway(t, httpConfig([routeTo(backend, { backend: { http: { version } } })]))
    const text = await exchangeRaw(gateway.port(), 'GET / HTTP/1.1\r\nhost: a\r\n\r\n', (received) =>
      received.endsWith('\r\n\r\n'),
    )
    assert.match(text, /^HTTP\/1.1 200 /)
  })
}
