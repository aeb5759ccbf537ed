import assert from 'node:assert/strict'
import { test } from 'node:test'
import { END_HEADERS, END_STREAM } from '../net/http2/test-client.ts'
import { exchangeRaw, request } from '../testing/client.ts'
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

test('fields of an HTTP/2 backend that no field may have reach nobody', async (t) => {
  const backend = await useFrameBackend(t, (connection, stream) => {
    connection.head(stream, [
      ['x-split', 'a\r\nset-cookie: b=c'],
      ['x-nul', 'a\0b'],
      ['x bad', 'a'],
      ['x-good', 'a'],
    ])
    connection.data(stream, 'body')
    connection.trailers(stream, [['x-late', 'a\nb']])
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend, { backend: { http: { version: 'HTTP2' } } })]))
  const { headers, text } = await request(gateway.port())
  assert.equal(headers['x-good'], 'a')
  assert.doesNotMatch(text, /set-cookie|x-split|x-nul|x bad|x-late/)
})

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
