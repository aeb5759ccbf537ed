import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  describeRequest,
  eventually,
  RawClient,
  startHttp1Server,
} from '../../../../gateway/src/testing/http/http1-server.ts'

const H = 'Host: a\r\n'
const post = (lines: string, body = ''): string => `POST / HTTP/1.1\r\n${H}${lines}\r\n\r\n${body}`

/** Invalid input of a client, and the status it gets before the connection ends. */
const refused: [name: string, bytes: string, status: number, code: string][] = [
  ['both lengths', post('Content-Length: 5\r\nTransfer-Encoding: chunked', '0\r\n\r\n'), 400, 'length_and_encoding'],
  ['differing Content-Length', post('Content-Length: 5\r\nContent-Length: 6', 'abcde'), 400, 'second_content_length'],
  ['repeated Content-Length', post('Content-Length: 5\r\nContent-Length: 5', 'abcde'), 400, 'second_content_length'],
  ['Content-Length that is no number', post('Content-Length: five'), 400, 'bad_content_length'],
  ['signed Content-Length', post('Content-Length: +5', 'abcde'), 400, 'bad_content_length'],
  ['huge Content-Length', post('Content-Length: 99999999999999999999'), 400, 'bad_content_length'],
  ['unknown coding', post('Transfer-Encoding: gzip'), 400, 'unknown_transfer_encoding'],
  ['list of codings', post('Transfer-Encoding: gzip, chunked'), 400, 'unknown_transfer_encoding'],
  [
    'two coding lines',
    post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'),
    400,
    'unknown_transfer_encoding',
  ],
  [
    'coding in HTTP/1.0',
    `POST / HTTP/1.0\r\n${H}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
    'encoding_in_http10',
  ],
  ['folded line', post('X: a\r\n b'), 400, 'folded_line'],
  ['space before the colon', post('X : a'), 400, 'space_before_colon'],
  ['bare CR', post('X: a\rb'), 400, 'bare_cr'],
  ['bare LF', post('X: a\nY: b'), 400, 'bare_lf'],
  ['lines of LF alone, never complete', `GET / HTTP/1.1\n${H}`, 400, 'bare_lf'],
  ['port beyond the last', 'GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n', 400, 'bad_host'],
  ['escaped NUL in Host', 'GET / HTTP/1.1\r\nHost: a%00b\r\n\r\n', 400, 'bad_host'],
  ['TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'tls_on_plain_port'],
  ['first byte of a TLS hello', '\x16', 400, 'tls_on_plain_port'],
  ['noise', '\x80\x2e\x01\x00\x02', 400, 'bad_request_line'],
  ['banner of SSH', 'SSH-2.0-OpenSSH_9.2\r\n', 400, 'bad_request_line'],
  ['mail', 'EHLO a\r\n', 400, 'bad_target'],
  ['method that does not end', 'G'.repeat(33), 400, 'bad_request_line'],
  ['target with a control byte, never complete', 'GET /\x01', 400, 'bad_target'],
  ['other protocol after the target, never complete', 'GET / FTP', 400, 'bad_request_line'],
  ['version that never was, never complete', 'GET / HTTP/1.1x', 400, 'bad_request_line'],
  ['NUL in a name, never complete', `GET / HTTP/1.1\r\n${H}a\0`, 400, 'bad_header_name'],
  ['NUL in a value, never complete', `GET / HTTP/1.1\r\n${H}a: \0`, 400, 'bad_header_value'],
  ['NUL', post('X: \0'), 400, 'bad_header_value'],
  ['name that is no token', post('X(): a'), 400, 'bad_header_name'],
  ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400, 'missing_host'],
  ['no Host in HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n', 400, 'missing_host'],
  ['second Host', post('Host: a'), 400, 'second_host'],
  ['invalid Host', 'GET / HTTP/1.1\r\nHost: a/b\r\n\r\n', 400, 'bad_host'],
  ['absolute form that differs from Host', `GET http://b/ HTTP/1.1\r\n${H}\r\n`, 400, 'authority_mismatch'],
  ['dot segments', `GET /a/../b HTTP/1.1\r\n${H}\r\n`, 400, 'ambiguous_path'],
  ['encoded dot segments', `GET /a/%2e%2E/b HTTP/1.1\r\n${H}\r\n`, 400, 'ambiguous_path'],
  ['dot segments behind an encoded slash', `GET /a%2f..%2fb HTTP/1.1\r\n${H}\r\n`, 400, 'ambiguous_path'],
  ['backslash', `GET /a\\b HTTP/1.1\r\n${H}\r\n`, 400, 'bad_target'],
  ['fragment', `GET /a#b HTTP/1.1\r\n${H}\r\n`, 400, 'bad_target'],
  ['unsupported version', `GET / HTTP/3.0\r\n${H}\r\n`, 505, 'unsupported_version'],
  ['unknown expectation', post('Expect: the-best'), 417, 'unknown_expectation'],
  ['CONNECT with a body', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\nContent-Length: 1\r\n\r\nx', 400, 'connect_with_body'],
  ['too many fields', `GET / HTTP/1.1\r\n${H}${'x: y\r\n'.repeat(100)}\r\n`, 431, 'too_many_headers'],
  ['head over its limit', `GET / HTTP/1.1\r\n${H}x: ${'y'.repeat(70_000)}\r\n\r\n`, 431, 'head_too_large'],
  ['head over its limit, never complete', `GET / HTTP/1.1\r\n${H}${'x: y\r\n'.repeat(12_000)}`, 431, 'head_too_large'],
  ['target over its limit', `GET /${'a'.repeat(40_000)} HTTP/1.1\r\n${H}\r\n`, 414, 'target_too_long'],
  ['target over every limit', `GET /${'a'.repeat(70_000)}`, 414, 'head_too_large'],
  ['chunk size with a sign', post('Transfer-Encoding: chunked', '+1\r\na\r\n0\r\n\r\n'), 400, 'bad_chunk'],
  ['chunk size that overflows', post('Transfer-Encoding: chunked', 'ffffffffffffffff\r\na'), 400, 'bad_chunk'],
  ['chunk with LF', post('Transfer-Encoding: chunked', '1\na\r\n0\r\n\r\n'), 400, 'bad_chunk'],
  ['endless chunk extension', post('Transfer-Encoding: chunked', `1;${'a'.repeat(9000)}`), 400, 'bad_chunk'],
  ['bad trailers', post('Transfer-Encoding: chunked', '0\r\nX\r\n\r\n'), 400, 'bad_chunk'],
  ['endless trailers', post('Transfer-Encoding: chunked', `0\r\n${'x: y\r\n'.repeat(4000)}`), 400, 'bad_chunk'],
]

for (const [name, bytes, status, code] of refused) {
  test(`${name}: ${status}, and the connection ends`, async () => {
    await using server = await startHttp1Server(describeRequest)
    using client = new RawClient(server.port)
    client.send(bytes)
    const reply = await client.all()
    assert.match(reply, new RegExp(`^HTTP/1\\.1 ${status} [^\\r]+\\r\\n[^]*\\r\\nconnection: close\\r\\n\\r\\n`))
    assert.equal(reply.split('HTTP/1.1 ').length, 2, 'one reply')
    assert.deepEqual(server.refused, [`${status} ${code}`])
    const [head, body] = reply.split('\r\n\r\n')
    assert.match(head!, new RegExp(`content-length: ${body!.length}`))
  })
}

test('a request before the refused one is answered', async () => {
  await using server = await startHttp1Server(describeRequest)
  using client = new RawClient(server.port)
  client.send(`GET /1 HTTP/1.1\r\n${H}\r\nGET /2 HTTP/1.1\r\n\r\nGET /3 HTTP/1.1\r\n${H}\r\n`)
  assert.match(await client.all(), /^HTTP\/1\.1 200 [^]*GET a \/1[^]*HTTP\/1\.1 400 (?![^]*\/3)/)
})

test('a client that goes on sending 1 MB after a bad head still reads its reply', async () => {
  for (const head of ['GET / HTTP/1.1\r\n\r\n', `GET / HTTP/1.1\r\n${'x: y\r\n'.repeat(12_000)}`]) {
    await using server = await startHttp1Server(describeRequest)
    using client = new RawClient(server.port)
    // Nothing is read before everything is sent, as simple clients do.
    client.socket.pause()
    client.send(head)
    const rest = Buffer.alloc(900_000, 'x')
    await new Promise<void>((resolve) => client.socket.write(rest, () => resolve()))
    client.socket.resume()
    assert.match(await client.all(), /^HTTP\/1\.1 4(00|31) /)
    assert.equal(client.error, null)
    client.socket.end()
  }
})

test('a client that never stops sending after a bad head is cut off', async () => {
  await using server = await startHttp1Server(describeRequest)
  using client = new RawClient(server.port)
  client.send('GET / HTTP/1.1\r\n\r\n')
  const piece = Buffer.alloc(65_536)
  const pour = (): void => {
    while (client.socket.writable && client.socket.write(piece));
  }
  client.socket.on('drain', pour)
  pour()
  await eventually(() => client.closed, 'the end of the connection')
  assert.ok(client.socket.bytesWritten > 1024 * 1024)
})
