import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seeded } from '../../../gateway/src/testing/seeded.ts'
import { mayBecomeResponse, MessageHead, parseRequestHead, parseResponseHead, parseTrailers } from './head.ts'
import { isAmbiguousPath } from './target.ts'

const LIMITS = { maxHeaders: 5, maxTarget: 20 }
const REQUEST_LINE = 'GET / HTTP/1.1\r\n'

const refusedRequests: [text: string, status: number, code: string][] = [
  ['\r\n', 400, 'bad_request_line'],
  [' GET / HTTP/1.1\r\n\r\n', 400, 'bad_request_line'],
  ['GET\r\n\r\n', 400, 'bad_request_line'],
  ['G(T / HTTP/1.1\r\n\r\n', 400, 'bad_request_line'],
  [`${'G'.repeat(33)} / HTTP/1.1\r\n\r\n`, 400, 'bad_request_line'],
  ['GET\t/ HTTP/1.1\r\n\r\n', 400, 'bad_request_line'],
  ['GET  / HTTP/1.1\r\n\r\n', 400, 'bad_target'],
  ['GET /\x80 HTTP/1.1\r\n\r\n', 400, 'bad_target'],
  ['GET /\x7f HTTP/1.1\r\n\r\n', 400, 'bad_target'],
  ['GET /\0 HTTP/1.1\r\n\r\n', 400, 'bad_target'],
  ['GET /# HTTP/1.1\r\n\r\n', 400, 'bad_target'],
  ['GET /\\ HTTP/1.1\r\n\r\n', 400, 'bad_target'],
  ['GET /\r\n\r\n', 400, 'bad_target'],
  [`GET /${'a'.repeat(20)} HTTP/1.1\r\n\r\n`, 414, 'target_too_long'],
  ['GET / HTTP/2.0\r\n\r\n', 505, 'unsupported_version'],
  ['GET / HTTP/1.2\r\n\r\n', 505, 'unsupported_version'],
  ['GET / HTTP/0.9\r\n\r\n', 505, 'unsupported_version'],
  ['GET / HTTP/1.10\r\n\r\n', 400, 'bad_request_line'],
  ['GET / HTTP/1\r\n\r\n', 400, 'bad_request_line'],
  ['GET / http/1.1\r\n\r\n', 400, 'bad_request_line'],
  ['GET / HTTP/1.1 \r\n\r\n', 400, 'bad_request_line'],
  ['GET / HTTP/1.1\n\r\n\r\n', 400, 'bad_request_line'],
  ['GET / HTTP/1.1\rX: y\r\n\r\n', 400, 'bad_request_line'],
  [REQUEST_LINE + 'a: 1\r\nb: 2\r\nc: 3\r\nd: 4\r\ne: 5\r\nf: 6\r\n\r\n', 431, 'too_many_headers'],
  [REQUEST_LINE + ' a: 1\r\n\r\n', 400, 'folded_line'],
  [REQUEST_LINE + 'a: 1\r\n b\r\n\r\n', 400, 'folded_line'],
  [REQUEST_LINE + 'a: 1\r\n\tb\r\n\r\n', 400, 'folded_line'],
  [REQUEST_LINE + 'a : 1\r\n\r\n', 400, 'space_before_colon'],
  [REQUEST_LINE + 'a\t: 1\r\n\r\n', 400, 'space_before_colon'],
  [REQUEST_LINE + ': 1\r\n\r\n', 400, 'bad_header_name'],
  [REQUEST_LINE + 'a\r\n\r\n', 400, 'bad_header_name'],
  [REQUEST_LINE + 'a\0: 1\r\n\r\n', 400, 'bad_header_name'],
  [REQUEST_LINE + 'a(: 1\r\n\r\n', 400, 'bad_header_name'],
  [REQUEST_LINE + 'caf\xe9: 1\r\n\r\n', 400, 'bad_header_name'],
  [REQUEST_LINE + 'a\n: 1\r\n\r\n', 400, 'bare_lf'],
  [REQUEST_LINE + 'a: 1\nb: 2\r\n\r\n', 400, 'bare_lf'],
  [REQUEST_LINE + 'a: 1\rb: 2\r\n\r\n', 400, 'bare_cr'],
  [REQUEST_LINE + 'a: 1\r\r\n\r\n', 400, 'bare_cr'],
  [REQUEST_LINE + 'a: 1\r\n\rb: 2\r\n\r\n', 400, 'bare_cr'],
  [REQUEST_LINE + 'a: 1\r\n\r\nb', 400, 'bare_cr'],
  [REQUEST_LINE + 'a: 1\r\n\r', 400, 'bare_cr'],
  [REQUEST_LINE + 'a: \0\r\n\r\n', 400, 'bad_header_value'],
  [REQUEST_LINE + 'a: \x0b\r\n\r\n', 400, 'bad_header_value'],
  [REQUEST_LINE + 'a: \x7f\r\n\r\n', 400, 'bad_header_value'],
  [REQUEST_LINE + 'Host: a\r\nhost: a\r\n\r\n', 400, 'second_host'],
  [REQUEST_LINE + 'Content-Length: 1\r\ncontent-length: 1\r\n\r\n', 400, 'second_content_length'],
  ...['', '+1', '-1', '1,1', '1 1', '0x1', '1a', '1.0', '1234567890123456', '\xb2'].map(
    (value): [string, number, string] => [REQUEST_LINE + `Content-Length: ${value}\r\n\r\n`, 400, 'bad_content_length'],
  ),
  [REQUEST_LINE + 'Expect: 200-ok\r\n\r\n', 417, 'unknown_expectation'],
  [REQUEST_LINE + 'Expect: 100-continue, x\r\n\r\n', 417, 'unknown_expectation'],
]

for (const [text, status, code] of refusedRequests) {
  test(`request head ${JSON.stringify(text)} is refused with ${status} ${code}`, () => {
    assert.deepEqual(parseRequestHead(text, LIMITS), { status, code })
  })
}

test('every byte that is no token byte is refused in a name, every control byte in a value', () => {
  const token = /[!#$%&'*+\-.^_`|~0-9A-Za-z]/
  for (let code = 0; code < 256; code++) {
    const char = String.fromCharCode(code)
    const named = parseRequestHead(`${REQUEST_LINE}x${char}y: 1\r\n\r\n`, LIMITS)
    assert.equal(named instanceof MessageHead, token.test(char) || char === ':', `name with byte ${code}`)
    const valued = parseRequestHead(`${REQUEST_LINE}x: a${char}b\r\n\r\n`, LIMITS)
    assert.equal(valued instanceof MessageHead, code === 9 || (code >= 32 && code !== 127), `value with byte ${code}`)
  }
})

test('the request line and the fields are read as they are', () => {
  const head = request('M-SEARCH /a?b HTTP/1.0', 'Host: A:1', 'X-One: \t a b \t', 'x-Two:', 'X-One:2')
  assert.deepEqual([head.method, head.target, head.minor, head.host], ['M-SEARCH', '/a?b', 0, 'A:1'])
  assert.equal(head.headers.toText(), 'X-One: \t a b \t\r\nx-Two:\r\nX-One:2\r\n')
  assert.equal(head.headers.joined('x-one'), 'a b, 2')
  assert.equal(head.headers.get('x-two'), '')
  assert.equal(head.contentLength, -1)
})

test('Content-Length is kept as it came, or written anew where readers could differ', () => {
  const plain = request('GET / HTTP/1.1', 'CONTENT-LENGTH: 12')
  assert.deepEqual([plain.contentLength, plain.headers.toText()], [12, 'CONTENT-LENGTH: 12\r\n'])
  for (const [value, written] of [
    ['\t0012 ', 12],
    ['5', 5],
    [' 5 ', 5],
    [' 5\t', 5],
    ['\t5', 5],
    ['  5', 5],
    [' 05', 5],
    [' 00', 0],
  ] as const) {
    const head = request('GET / HTTP/1.1', 'A: 1', `Content-Length:${value}`, 'B: 2')
    assert.equal(head.contentLength, written)
    assert.equal(head.headers.toText(), `A: 1\r\nB: 2\r\ncontent-length: ${written}\r\n`, JSON.stringify(value))
  }
  assert.equal(request('GET / HTTP/1.1', 'Content-Length: 0').headers.toText(), 'Content-Length: 0\r\n')
  const response = parseResponseHead('HTTP/1.1 200 OK\r\nContent-Length: 007\r\n\r\n', 9)
  assert.ok(response instanceof MessageHead)
  assert.equal(response.headers.toText(), 'content-length: 7\r\n')
})

test('one Transfer-Encoding of chunked alone is chunked, all else is foreign', () => {
  for (const value of ['chunked', ' Chunked', '\t CHUNKED']) {
    const head = request('GET / HTTP/1.1', `Transfer-Encoding:${value}`)
    assert.deepEqual([head.chunked, head.foreignCoding, head.headers.size], [true, false, 0])
  }
  for (const value of [
    '',
    'gzip',
    'chunked, chunked',
    'gzip, chunked',
    'chunked,',
    'xchunked',
    'chunked;a',
    '\xa0chunked',
    'chunked\t',
    'chunked ',
  ]) {
    assert.equal(request('GET / HTTP/1.1', `Transfer-Encoding: ${value}`).foreignCoding, true, value)
  }
  for (const second of ['chunked', 'identity', '']) {
    const lines = ['Transfer-Encoding: chunked', `Transfer-Encoding: ${second}`]
    assert.equal(request('GET / HTTP/1.1', ...lines).foreignCoding, true)
    assert.equal(request('GET / HTTP/1.1', ...lines.toReversed()).foreignCoding, true)
  }
})

test('hop-by-hop fields are not kept, nor those that Connection nominates', () => {
  const head = parsed(
    'GET / HTTP/1.1',
    ...[
      'Host: a',
      'Keep-Alive: 5',
      'Proxy-Connection: x',
      'TE: trailers',
      'Trailer: x',
      'HTTP2-Settings: x',
      'Upgrade: h2c',
    ],
    ...[
      'Proxy-Authenticate: x',
      'X-A: 1',
      'Connection: x-a, CLOSE , ,X-b',
      'x-B: 2',
      'x-c: 3',
      'Connection: x-d',
      'X-D: 4',
    ],
  )
  assert.equal(head.headers.toText(), 'x-c: 3\r\n')
  assert.deepEqual([head.close, head.keepAlive, head.teTrailers, head.upgrade], [true, false, true, ''])
})

test('Connection cannot remove what frames, routes or proves a request', () => {
  const head = request(
    'GET / HTTP/1.1',
    'Connection: content-length, cookie, authorization',
    'Content-Length: 1',
    'Cookie: a',
  )
  assert.equal(head.headers.toText(), 'Content-Length: 1\r\nCookie: a\r\n')
  assert.equal(head.contentLength, 1)
})

test('Upgrade counts only when Connection nominates it', () => {
  assert.equal(request('GET / HTTP/1.1', 'Upgrade: WebSocket').upgrade, '')
  assert.equal(request('GET / HTTP/1.1', 'Upgrade: WebSocket', 'Connection: keep-alive, Upgrade').upgrade, 'websocket')
  assert.equal(request('GET / HTTP/1.1', 'Connection: upgrade').upgrade, '')
})

test('fields that claim an address are noticed under any spelling', () => {
  for (const name of [
    'Forwarded',
    'X-Forwarded-For',
    'x_forwarded_for',
    'X.Forwarded-Proto',
    'x-real-ip',
    'X-Real_IP',
  ]) {
    assert.equal(request('GET / HTTP/1.1', `${name}: a`).claimsForwarding, true, name)
  }
  for (const name of ['X-Forward', 'x-real-ipx', 'Accept', 'forwarded-for']) {
    assert.equal(request('GET / HTTP/1.1', `${name}: a`).claimsForwarding, false, name)
  }
})

test('the limits are the last values that pass', () => {
  assert.equal(request('GET / HTTP/1.1', 'a: 1', 'b: 2', 'c: 3', 'd: 4', 'e: 5').headers.size, 5)
  assert.equal(request(`GET /${'a'.repeat(19)} HTTP/1.1`).target.length, 20)
})

test('a response head is read', () => {
  const head = parseResponseHead('HTTP/1.1 404 Not  Found\r\nA: b\r\nContent-Length: 3\r\nConnection: close\r\n\r\n', 9)
  assert.ok(head instanceof MessageHead)
  assert.deepEqual(
    [head.status, head.reason, head.minor, head.contentLength, head.close],
    [404, 'Not  Found', 1, 3, true],
  )
  for (const line of [
    'HTTP/1.1 100 Continue',
    'HTTP/1.1 999 x',
    'HTTP/1.0 200',
    'HTTP/1.1 200 ',
    'HTTP/1.1 599 caf\xe9',
  ]) {
    assert.ok(parseResponseHead(line + '\r\n\r\n', 9) instanceof MessageHead, line)
  }
})

test('malformed status lines are refused', () => {
  const lines = [
    '',
    'HTTP/1.1',
    'HTTP/1.1 ',
    'HTTP/1.1 20',
    'HTTP/1.1 2000',
    'HTTP/1.1 099 x',
    'HTTP/1.1 2x0 x',
    'HTTP/1.1 20: x',
    'HTTP/1.1 /00 x',
    'HTTP/1.1  200 x',
  ]
  for (const line of [
    ...lines,
    'HTTP/2 200 x',
    'HTTP/1.2 200 x',
    'ICY 200 OK',
    'HTTP/1.1 200\tx',
    'HTTP/1.1 200 \0',
    'HTTP/1.1 200 a\nb',
  ]) {
    assert.deepEqual(parseResponseHead(line + '\r\n\r\n', 9), { status: 400, code: 'bad_status_line' }, line)
  }
})

test('trailers lose what must not come late, and may not frame', () => {
  const kept = parseTrailers(
    ['X: 1', 'Set-Cookie: a', 'Host: b', 'x-forwarded-for: c', 'X_Real.IP: d', 'Cookie: e', 'Proxy-Authorization: f']
      .concat('Connection: close', 'Y: 2', '\r\n')
      .join('\r\n'),
    10,
  )
  assert.equal('toText' in kept && kept.toText(), 'X: 1\r\nY: 2\r\n')
  for (const line of ['Content-Length: 1', 'Transfer-Encoding: chunked', 'Transfer-Encoding: x']) {
    assert.deepEqual(parseTrailers(line + '\r\n\r\n', 10), { status: 400, code: 'late_framing' })
  }
})

function request(...lines: string[]): MessageHead {
  const head = parseRequestHead(lines.map((line) => line + '\r\n').join('') + '\r\n', LIMITS)
  assert.ok(head instanceof MessageHead, JSON.stringify(head))
  return head
}

function parsed(...lines: string[]): MessageHead {
  const head = parseRequestHead(lines.map((line) => line + '\r\n').join('') + '\r\n', { ...LIMITS, maxHeaders: 100 })
  assert.ok(head instanceof MessageHead, JSON.stringify(head))
  return head
}

test('a target that is called plain has nothing in it that could be resolved', () => {
  const random = seeded(7)
  const pieces = ['/', '/', 'a', 'b1', '.', '..', '%2e', '%2F', '%5c', '?', ';x', '=', '~']
  const found = { plain: 0, other: 0 }
  for (let i = 0; i < 3000; i++) {
    const target =
      '/' + Array.from({ length: 1 + (i % 8) }, () => pieces[Math.floor(random() * pieces.length)]).join('')
    const head = parseRequestHead(`GET ${target} HTTP/1.1\r\nhost: a\r\n\r\n`, { maxHeaders: 5, maxTarget: 100 })
    assert.ok(head instanceof MessageHead)
    assert.equal(head.isPlainTarget, !/[.%]/.test(target), target)
    if (head.isPlainTarget) assert.equal(isAmbiguousPath(target), false, target)
    found[head.isPlainTarget ? 'plain' : 'other']++
  }
  assert.ok(found.plain > 300 && found.other > 300, JSON.stringify(found))
})

test('each head has the host that it names, whichever the one before had', () => {
  const hosts = [
    'shop.example.com',
    'Shop.example.com',
    'shop.example.con',
    'shop.example.co',
    'a',
    'b',
    '',
    'shop.example.com:80',
  ]
  for (const first of hosts) {
    for (const second of hosts) {
      for (const host of [first, second, second]) {
        const head = parseRequestHead(`GET / HTTP/1.1\r\nhost: ${host} \r\n\r\n`, LIMITS)
        assert.ok(head instanceof MessageHead)
        assert.equal(head.host, host)
      }
    }
  }
})

test('every start of a response may become one, and nothing else may', () => {
  const whole = 'HTTP/1.0 200 OK\r\nA: caf\xe9\t\r\n'
  const may = (text: string, from = 0) => mayBecomeResponse(Buffer.from(`junk${text}`, 'latin1'), 4, 4 + from)
  for (let end = 0; end <= whole.length; end++) assert.equal(may(whole.slice(0, end)), true, whole.slice(0, end))
  for (const text of ['HTTP/1.1 200', 'HTTP/1.9 999 x']) assert.equal(may(text), true, text)
  for (const text of ['S', 'HTTQ', 'http', 'HTTP/2', 'HTTP/1.x', 'HTTP/1.1\t', 'HTTP/1.1 2/', 'HTTP/1.1 2:', '\r\n']) {
    assert.equal(may(text), false, text)
  }
  for (const text of ['200 OK\n', '200 \rA', '200 a\r\r', '200 \0', '200 \x7f', '200 OK\r\n\nA']) {
    assert.equal(may(`HTTP/1.1 ${text}`), false, text)
  }
  // Bytes before `from` were already checked.
  assert.equal(may('SSH-2.0 200 OK', 12), true)
  assert.equal(may('HTTP/1.1 200\0OK', 13), true)
})

test('hops of several lines are one list, and are not kept', () => {
  const head = request('GET / HTTP/1.1', 'X-Portico-Hops: a', 'x-portico-hops: b', 'x-portico-hopx: c')
  assert.equal(head.hops, 'a, b')
  assert.equal(head.headers.toText(), 'x-portico-hopx: c\r\n')
})

test('names that only begin like those of a connection are kept, however long they are', () => {
  const names = ['Connectiom', 'hose', 'te2', 'tf', `h${'o'.repeat(31)}`, `t${'e'.repeat(300)}`, 'X-Portico', 'x']
  for (const name of names) {
    assert.equal(request('GET / HTTP/1.1', `${name}: close`).headers.toText(), `${name}: close\r\n`)
  }
})

test('keep-alive is noticed alone, in a list and in any case', () => {
  for (const value of ['keep-alive', 'Keep-Alive', 'x, keep-alive', 'keep-alive,close']) {
    assert.equal(request('GET / HTTP/1.1', `Connection: ${value}`).keepAlive, true, value)
  }
  assert.equal(request('GET / HTTP/1.1', 'Connection: keep-aliv').keepAlive, false)
  assert.equal(request('GET / HTTP/1.1', 'Connection: keep-alive').close, false)
  assert.equal(request('GET / HTTP/1.1').keepAliveSeconds, -1)
  for (const [value, seconds] of [
    ['timeout=5', 5],
    ['max=9, Timeout = 12', 12],
    ['timeout=5;max=1', 5],
    ['xtimeout=5', -1],
    ['timeout=5s', -1],
    ['max=5', -1],
  ] as const) {
    assert.equal(request('GET / HTTP/1.1', `Keep-Alive: ${value}`).keepAliveSeconds, seconds, value)
  }
})

test('trailers are taken when TE names them', () => {
  for (const [value, isTaken] of [
    ['trailers', true],
    ['gzip, Trailers', true],
    ['trailers;q=1', true],
    ['trailersx', false],
    ['xtrailers', false],
    ['gzip', false],
  ] as const) {
    assert.equal(request('GET / HTTP/1.1', `TE: ${value}`).teTrailers, isTaken, value)
  }
})

test('several lines of Upgrade are one list', () => {
  const head = request('GET / HTTP/1.1', 'Upgrade: H2C', 'upgrade: websocket', 'Connection: upgrade')
  assert.equal(head.upgrade, 'h2c, websocket')
})

test('a length has at most 15 digits', () => {
  assert.equal(request('POST / HTTP/1.1', `Content-Length: ${'0'.repeat(14)}7`).contentLength, 7)
  assert.equal(request('POST / HTTP/1.1', `Content-Length: ${'9'.repeat(15)}`).contentLength, 999_999_999_999_999)
  for (const length of ['9'.repeat(16), `${'0'.repeat(15)}7`, '', '-1', '1/', '1:', '+1']) {
    const head = parseRequestHead(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`, LIMITS)
    assert.ok(!(head instanceof MessageHead) && head.status === 400, length)
  }
})
