import assert from 'node:assert/strict'
import { type ClientHttp2Session, connect } from 'node:http2'
import { test } from 'node:test'
import { END_HEADERS, END_STREAM } from '../../testing/frame-client.ts'
import { exchangeRaw, request } from '../../../../gateway/src/testing/client.ts'
import { type BackendConnection, useFrameBackend } from '../../../../gateway/src/testing/http/frame-backend.ts'
import { httpConfig, routeTo, useGateway, useTcpServer } from '../../../../gateway/src/testing/scene.ts'

/** Responses of HTTP/2 backends that violate the protocol before anything of them was forwarded: 502. */

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
    // Sent in one write: nothing of it has been forwarded when the fault is found.
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

/** Fields that HTTP/2 forbids, and the code of the error. */
const INVALID_FIELDS: [name: string, value: string, code: string][] = [
  ['x-split', 'a\r\nset-cookie: b=c', 'bad_header_value'],
  ['x-lf', 'a\nb', 'bad_header_value'],
  ['x-cr', 'a\rb', 'bad_header_value'],
  ['x-nul', 'a\0b', 'bad_header_value'],
  ['x-control', 'a\x01b', 'bad_header_value'],
  ['x-blank', ' a', 'bad_header_value'],
  ['x-tab', 'a\t', 'bad_header_value'],
  ['x bad', 'a', 'bad_header_name'],
  ['x:bad', 'a', 'bad_header_name'],
  ['x-a\r\nset-cookie', 'a', 'bad_header_name'],
  ['x-\0', 'a', 'bad_header_name'],
  ['', 'a', 'bad_header_name'],
  ['X-Upper', 'a', 'bad_header_name'],
  [':path', '/', 'bad_pseudo_header'],
  [':status', '200', 'bad_pseudo_header'],
  [':unknown', 'a', 'bad_pseudo_header'],
  ['connection', 'close', 'connection_header'],
  ['keep-alive', '1', 'connection_header'],
  ['proxy-connection', 'close', 'connection_header'],
  ['transfer-encoding', 'chunked', 'connection_header'],
  ['upgrade', 'websocket', 'connection_header'],
  ['te', 'gzip', 'connection_header'],
]

for (const isTrailer of [false, true]) {
  test(`each field that no field may be makes a response 502 ${isTrailer ? 'as a trailer' : 'in its head'}`, async (t) => {
    let field: [string, string] = ['', '']
    const backend = await useFrameBackend(t, (connection, stream) => {
      connection.raw.cork()
      connection.head(stream, isTrailer ? [] : [['x-first', 'a'], field, ['x-last', 'a']])
      connection.data(stream, 'body')
      connection.trailers(stream, [['x-early', 'a'], ...(isTrailer ? [field] : []), ['x-late', 'a']])
      connection.raw.uncork()
    })
    const gateway = await useGateway(t, httpConfig([routeTo(backend, { backend: { http: { version: 'HTTP2' } } })]))
    const session = connect(`http://127.0.0.1:${gateway.port()}`)
    t.after(() => session.destroy())
    for (const [name, value, code] of INVALID_FIELDS) {
      field = [name, value]
      const reason = `malformed response ${isTrailer ? 'trailers' : 'head'} (${code})`
      const what = JSON.stringify(field)
      const { status, body } = await request(gateway.port())
      assert.deepEqual([status, body], [502, `upstream response invalid: ${reason}`], what)
      assert.equal(await outcome(session), isTrailer ? 'reset 2' : '502', what)
    }
    await gateway.finished(2 * INVALID_FIELDS.length)
    assert.equal(backend.connections.length, 1, 'the connection goes on')
    for (const { reason, error } of gateway.records) {
      assert.equal(reason, 'UpstreamFailure')
      assert.match(error ?? '', /malformed response/)
    }
    for (const { outcome: recorded, reason } of gateway.recorded()) {
      assert.deepEqual([recorded, reason?.code], ['failed', 'bad_response'])
    }
  })
}

/** Returns the status of a complete response for an HTTP/2 client, or the code of the reset. */
async function outcome(session: ClientHttp2Session): Promise<string> {
  const stream = session.request({ ':path': '/' })
  let status = 0
  stream.on('response', (fields) => (status = fields[':status'] ?? 0))
  stream.on('error', () => {})
  stream.resume()
  await new Promise((resolve) => stream.on('close', resolve))
  return stream.rstCode === 0 ? String(status) : `reset ${stream.rstCode}`
}

test('a trailer that no field may be cuts a response of which a part was sent', async (t) => {
  const backend = await useFrameBackend(t, (connection, stream) => {
    connection.head(stream)
    connection.data(stream, 'part')
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend, { backend: { http: { version: 'HTTP2' } } })]))
  let isCut = false
  const text = await exchangeRaw(gateway.port(), 'GET / HTTP/1.1\r\nhost: a\r\n\r\n', (received) => {
    if (!isCut && received.includes('part')) {
      isCut = true
      backend.connections[0]!.trailers(1, [['x-split', 'a\r\nb']])
    }
    return false
  })
  assert.match(text, /^HTTP\/1.1 200 [^]*part\r\n$/)
  await gateway.finished(1)
  assert.match(gateway.records[0]!.error ?? '', /malformed response trailers \(bad_header_value\)/)
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
