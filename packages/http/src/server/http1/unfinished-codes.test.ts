import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unfinishedProblem } from '../../http1/unfinished-head.ts'

function codeOf(text: string, from = 0): string | null {
  // Bytes before the start belong to the previous message.
  const bytes = Buffer.from(`xx${text}`, 'latin1')
  return unfinishedProblem(bytes, 2, 2 + from)?.code ?? null
}

test('an error that no further byte can fix is reported by its code', () => {
  for (const [text, code] of [
    ['\x16', 'tls_on_plain_port'],
    ['\x16\x03', 'tls_on_plain_port'],
    ['\x16\x03\x01', 'tls_on_plain_port'],
    ['\x16\x02', 'bad_request_line'],
    ['\n', 'bare_lf'],
    ['GET / HTTP/1.1\n', 'bare_lf'],
    ['GET / HTTP/1.1\r\nA: b\n', 'bare_lf'],
    ['GET\0', 'bad_request_line'],
    ['(', 'bad_request_line'],
    [' GET', 'bad_request_line'],
    ['GET:', 'bad_request_line'],
    ['G'.repeat(33), 'bad_request_line'],
    ['GET  ', 'bad_target'],
    ['GET /#', 'bad_target'],
    ['GET /\t', 'bad_target'],
    ['GET / HTTQ', 'bad_request_line'],
    ['GET / HTTP/x', 'bad_request_line'],
    ['GET / HTTP/:', 'bad_request_line'],
    ['GET / HTTP//', 'bad_request_line'],
    ['GET / HTTP/1.1 ', 'bad_request_line'],
    ['GET / HTTP/1.1\r\nA\0', 'bad_header_name'],
    ['GET / HTTP/1.1\r\nA: b\r\nC\x7f', 'bad_header_name'],
    ['GET / HTTP/1.1\r\nA: b\0', 'bad_header_value'],
    ['GET / HTTP/1.1\r\nA: b\r\nC: d\x01', 'bad_header_value'],
  ] as const) {
    assert.equal(codeOf(text), code, JSON.stringify(text))
  }
})

test('an incomplete head that may become a request is not rejected', () => {
  for (const text of [
    '',
    'G',
    'G'.repeat(32),
    'GET ',
    'GET /a',
    'GET / ',
    'GET / HTTP/0.9\r',
    'GET / HTTP/9.9\r\n',
    'GET / HTTP/1.1\r\nA: b\xff\t',
    'GET / HTTP/1.1\r\nA: b\r\n',
  ]) {
    assert.equal(codeOf(text), null, JSON.stringify(text))
  }
})

test('bytes that were looked at before are not looked at again, but for the request line', () => {
  const text = 'GET / HTTP/1.1\r\nA: \0b'
  assert.equal(codeOf(text), 'bad_header_value')
  assert.equal(codeOf(text, text.length - 1), null)
  assert.equal(codeOf('(ET / HTTP/1.1\r\nA', 16), 'bad_request_line')
  // The byte before `from` still tells whether a line feed is bare.
  assert.equal(codeOf('GET / HTTP/1.1\r\n', 15), null)
  assert.equal(codeOf('GET / HTTP/1.1\n', 14), 'bare_lf')
})
