import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Field } from '../../http2/hpack/tables.ts'
import { Fields, MALFORMED, RequestHead } from './request-head.ts'
import { TrailerFields } from '../../http2/trailer-fields.ts'

type Pair = readonly [name: string, value: string]

const METHOD: Pair = [':method', 'GET']
const SCHEME: Pair = [':scheme', 'http']
const AUTHORITY: Pair = [':authority', 'a.test']
const PATH: Pair = [':path', '/']
const BASE: readonly Pair[] = [METHOD, SCHEME, AUTHORITY, PATH]
const CONNECT: Pair = [':method', 'CONNECT']
const TUNNEL: readonly Pair[] = [CONNECT, [':authority', 'a.test:443']]

function read(pairs: readonly Pair[], endsWithHead = true): ReturnType<Fields['toHead']> {
  const fields = new Fields()
  for (const [name, value] of pairs) fields.field(new Field(name, value))
  return fields.toHead(endsWithHead)
}

function accepted(pairs: readonly Pair[], endsWithHead = true): RequestHead {
  const head = read(pairs, endsWithHead)
  assert.ok(head instanceof RequestHead, `${JSON.stringify(pairs)}: ${JSON.stringify(head)}`)
  return head
}

function codeOf(pairs: readonly Pair[], endsWithHead = true): string {
  const problem = read(pairs, endsWithHead)
  assert.ok(!(problem instanceof RequestHead), JSON.stringify(pairs))
  return problem === MALFORMED ? MALFORMED : problem.code
}

test('each pseudo-header stands once, and before all other fields', () => {
  for (const pair of BASE) assert.equal(codeOf([...BASE, pair]), MALFORMED, pair[0])
  const protocol: Pair = [':protocol', 'websocket']
  assert.equal(codeOf([CONNECT, SCHEME, AUTHORITY, PATH, protocol, protocol]), MALFORMED)
  for (const pair of BASE) {
    const others = BASE.filter((each) => each !== pair)
    assert.equal(codeOf([...others, ['x', '1'], pair]), MALFORMED, pair[0])
  }
})

test('a request has a method, a scheme, a path and a host', () => {
  for (const pair of BASE) {
    assert.equal(codeOf(BASE.filter((each) => each !== pair)), MALFORMED, pair[0])
  }
  assert.equal(codeOf([METHOD, SCHEME, AUTHORITY, [':path', '']]), MALFORMED)
  assert.equal(accepted([METHOD, SCHEME, PATH, ['host', 'b.test']]).authority, 'b.test')
  assert.equal(accepted([...BASE, ['host', 'A.Test']]).authority, 'a.test')
  assert.equal(codeOf([...BASE, ['host', 'b.test']]), 'authority_mismatch')
})

test('CONNECT has an authority with a port, and neither a path nor a scheme', () => {
  const head = accepted(TUNNEL, false)
  assert.deepEqual([head.method, head.authority, head.target, head.isTunnel], ['CONNECT', 'a.test:443', '', true])
  assert.equal(accepted(TUNNEL, true).isTunnel, false)
  assert.equal(codeOf([...TUNNEL, PATH]), MALFORMED)
  assert.equal(codeOf([...TUNNEL, SCHEME]), MALFORMED)
  assert.equal(codeOf([CONNECT, ['host', 'a.test:443']]), MALFORMED)
  assert.equal(codeOf([...TUNNEL, ['content-length', '1']], false), 'connect_with_body')
  assert.equal(accepted([...TUNNEL, ['content-length', '0']], false).isTunnel, true)
})

test('CONNECT with a protocol is a GET that asks for it', () => {
  const whole: Pair[] = [CONNECT, SCHEME, AUTHORITY, PATH, [':protocol', 'WebSocket']]
  const head = accepted(whole, false)
  assert.deepEqual([head.method, head.target, head.upgrade, head.isTunnel], ['GET', '/', 'websocket', true])
  assert.match(head.headers.get('sec-websocket-key') ?? '', /^[A-Za-z0-9+/]{22}==$/)
  for (const name of [':scheme', ':authority', ':path']) {
    assert.equal(codeOf(whole.filter((pair) => pair[0] !== name)), MALFORMED, name)
  }
  const withHost: Pair[] = [...whole.filter((pair) => pair !== AUTHORITY), ['host', 'c.test']]
  assert.equal(accepted(withHost).authority, 'c.test')
  assert.equal(codeOf([...BASE, [':protocol', 'websocket']]), MALFORMED, 'with another method')
  assert.equal(codeOf(whole.map((pair) => (pair[0] === ':protocol' ? [':protocol', 'a b'] : pair))), MALFORMED)
  assert.equal(codeOf(whole.map((pair) => (pair[0] === ':path' ? [':path', ''] : pair))), MALFORMED)
  const other = accepted(
    whole.map((pair) => (pair[0] === ':protocol' ? [':protocol', 'connect-udp'] : pair)),
    false,
  )
  assert.deepEqual([other.upgrade, other.headers.size], ['connect-udp', 0])
  assert.deepEqual([accepted(BASE).upgrade, accepted(BASE).isTunnel], ['', false])
})

test('names and values are those that HTTP/1 can carry too', () => {
  for (const [name, value, code] of [
    ['X-A', '1', MALFORMED],
    [':other', '1', MALFORMED],
    ['', '1', 'bad_header_name'],
    ['x a', '1', 'bad_header_name'],
    ['x(', '1', 'bad_header_name'],
    ['x', ' 1', 'bad_header_value'],
    ['x', '1 ', 'bad_header_value'],
    ['x', '\t1', 'bad_header_value'],
    ['x', '1\t', 'bad_header_value'],
    ['x', 'a\0b', 'bad_header_value'],
    ['x', 'a\x7f', 'bad_header_value'],
    ['connection', 'close', MALFORMED],
    ['keep-alive', '1', MALFORMED],
    ['proxy-connection', 'close', MALFORMED],
    ['transfer-encoding', 'chunked', MALFORMED],
    ['upgrade', 'websocket', MALFORMED],
    ['te', 'gzip', MALFORMED],
  ] as const) {
    assert.equal(codeOf([...BASE, [name, value]]), code, `${name}: ${JSON.stringify(value)}`)
  }
  assert.equal(accepted([...BASE, ['x', '']]).headers.get('x'), '')
  assert.equal(accepted([...BASE, ['x', 'a b\tc\xff']]).headers.get('x'), 'a b\tc\xff')
})

test('a head that is malformed stays so, whatever else is wrong with it', () => {
  assert.equal(codeOf([...BASE, ['X', '1'], ['x', ' 1']]), MALFORMED)
  assert.equal(codeOf([...BASE, ['x', ' 1'], ['X', '1']]), MALFORMED)
  assert.equal(codeOf([METHOD, SCHEME, PATH, ['x', ' 1']]), MALFORMED, 'incomplete')
  assert.equal(codeOf([...BASE, ['x', ' 1'], ['y', '1']]), 'bad_header_value', 'a later good field heals nothing')
})

test('fields of one connection are read, and not kept', () => {
  const head = accepted(
    [
      ...BASE,
      ['te', 'Trailers'],
      ['trailer', 'x'],
      ['http2-settings', 'x'],
      ['proxy-authenticate', 'x'],
      ['sec-websocket-key', 'x'],
      ['x-portico-hops', 'a'],
      ['x-portico-hops', 'b'],
      ['cookie', 'a=1'],
      ['x', '1'],
      ['cookie', 'b=2'],
      ['cookie', 'c=3'],
      ['expect', '100-continue'],
    ],
    false,
  )
  assert.equal(head.headers.toText(), 'x: 1\r\ncookie: a=1; b=2; c=3\r\n')
  assert.deepEqual([head.teTrailers, head.hops, head.expectContinue], [true, 'a, b', true])
  const plain = accepted(BASE)
  assert.deepEqual([plain.teTrailers, plain.hops, plain.expectContinue], [false, '', false])
})

test('methods, paths and schemes are held to their rules', () => {
  const instead = (pair: Pair) => BASE.map((each) => (each[0] === pair[0] ? pair : each))
  assert.equal(accepted(instead([':method', 'M'.repeat(32)])).method.length, 32)
  assert.equal(codeOf(instead([':method', 'M'.repeat(33)])), 'bad_method')
  assert.equal(codeOf(instead([':method', 'G T'])), 'bad_method')
  assert.equal(accepted(instead([':scheme', 'HTTPS'])).target, '/')
  for (const scheme of ['', 'httpx', 'xhttps', 'ftp']) {
    assert.equal(codeOf(instead([':scheme', scheme])), 'bad_scheme', scheme)
  }
  for (const path of ['a', '/a#', '/a\\b', '/a b', '*x', 'http://a.test/', '/\xe9']) {
    assert.equal(codeOf(instead([':path', path])), 'bad_target', path)
  }
  assert.equal(codeOf(instead([':path', '*'])), 'bad_target')
  const asterisk = BASE.map((pair): Pair =>
    pair === METHOD ? [':method', 'OPTIONS'] : pair === PATH ? [':path', '*'] : pair,
  )
  assert.equal(accepted(asterisk).target, '*')
})

test('a length is announced once, in digits, and only where a body follows', () => {
  for (const value of ['', '-1', '+1', '1 ', '1,1', '0x1', '1234567890123456']) {
    assert.match(codeOf([...BASE, ['content-length', value]], false), /^bad_(content_length|header_value)$/, value)
  }
  assert.equal(accepted([...BASE, ['content-length', '123456789012345']], false).length, 123_456_789_012_345)
  assert.equal(codeOf([...BASE, ['content-length', '1']], true), MALFORMED)
  const empty = accepted([...BASE, ['content-length', '0']], true)
  assert.deepEqual([empty.length, empty.endsWithHead, empty.headers.get('content-length')], [0, true, '0'])
  assert.deepEqual([accepted(BASE, false).length, accepted(BASE, false).endsWithHead], [-1, false])
})

test('trailers hold ordinary fields alone', () => {
  const trailersOf = (pairs: readonly Pair[]) => {
    const fields = new TrailerFields()
    for (const [name, value] of pairs) fields.field(new Field(name, value))
    return fields.problem === null ? fields.headers.toText() : MALFORMED
  }
  assert.equal(
    trailersOf([
      ['x', '1'],
      ['host', 'a'],
      ['cookie', 'a'],
      ['y', '2'],
    ]),
    'x: 1\r\ny: 2\r\n',
  )
  assert.equal(trailersOf([['x-forwarded-for', '1']]), '')
  for (const pair of [PATH, ['connection', 'close'], ['X', '1'], ['x a', '1'], ['x', ' 1'], ['te', 'gzip']] as const) {
    assert.equal(trailersOf([['x', '1'], pair]), MALFORMED, pair[0])
  }
})

test('the kind of a field is cached in the field', () => {
  const field = new Field('x-real-ip', '1')
  for (let time = 0; time < 2; time++) {
    const fields = new Fields()
    for (const [name, value] of BASE) fields.field(new Field(name, value))
    fields.field(field)
    const head = fields.toHead(true)
    assert.ok(head instanceof RequestHead)
    assert.deepEqual([head.claimsForwarding, head.headers.get('x-real-ip')], [true, '1'])
  }
})
