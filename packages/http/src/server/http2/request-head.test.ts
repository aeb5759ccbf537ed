import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Field } from '../../http2/hpack/tables.ts'
import { Fields, MALFORMED, RequestHead } from './request-head.ts'

const BASE = [':method', 'GET', ':scheme', 'http', ':authority', 'a.test', ':path', '/']

function read(raw: string[], endsWithHead = true): ReturnType<Fields['toHead']> {
  const fields = new Fields()
  for (let i = 0; i < raw.length; i += 2) fields.field(new Field(raw[i]!, raw[i + 1]!))
  return fields.toHead(endsWithHead)
}

function accepted(raw: string[], endsWithHead = true): RequestHead {
  const head = read(raw, endsWithHead)
  assert.ok(head instanceof RequestHead, JSON.stringify(head))
  return head
}

function refused(raw: string[]): string {
  const problem = read(raw)
  assert.ok(!(problem instanceof RequestHead))
  return problem === MALFORMED ? MALFORMED : `${problem.status} ${problem.code}`
}

function withField(name: string, value: string): string[] {
  const raw = [...BASE]
  const at = raw.indexOf(name)
  if (at === -1) raw.push(name, value)
  else raw[at + 1] = value
  return raw
}

test('ordinary fields come out as they went in, and as well formed HTTP/1 lines', () => {
  const name = fc.stringMatching(/^y[a-z0-9-]{0,12}$/)
  const value = fc.stringMatching(/^([!-~\x80-\xff]([ -~\x80-\xff]{0,20}[!-~\x80-\xff])?)?$/)
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 12 }), (fields) => {
      const head = accepted([...BASE, ...fields.flat()])
      const seen: [string, string][] = []
      head.headers.forEach((name, value) => seen.push([name, value]))
      assert.deepEqual(seen, fields)
      assert.equal(head.headers.toText(), fields.map(([name, value]) => `${name}: ${value}\r\n`).join(''))
      for (const [name] of fields) assert.equal(head.headers.get(name), fields.find((field) => field[0] === name)![1])
    }),
    { seed: 7, numRuns: 300 },
  )
})

test('the path is accepted as it is or refused, never changed', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) }),
      (text) => {
        const head = read(withField(':path', '/' + text))
        if (!(head instanceof RequestHead)) return
        assert.equal(head.target, '/' + text)
        assert.match(head.target, /^[!-~]+$/)
        assert.doesNotMatch(head.target, /[#\\]/)
      },
    ),
    { seed: 7, numRuns: 2_000 },
  )
})

test('the length follows the frames and the announced length', () => {
  assert.equal(accepted(BASE, true).length, 0)
  assert.equal(accepted(BASE, false).length, -1)
  assert.equal(accepted(withField('content-length', '12'), false).length, 12)
  assert.equal(accepted(withField('content-length', '12'), false).headers.get('content-length'), '12')
})

test('an expectation matters only when a body follows', () => {
  assert.equal(accepted(withField('expect', '100-Continue'), false).expectContinue, true)
  assert.equal(accepted(withField('expect', '100-continue'), true).expectContinue, false)
})

test('headers that claim a client address are noticed in any spelling', () => {
  for (const name of ['forwarded', 'x-forwarded-for', 'x_forwarded_proto', 'x-real-ip']) {
    assert.equal(accepted(withField(name, '1')).claimsForwarding, true, name)
  }
  assert.equal(accepted(withField('x-other', '1')).claimsForwarding, false)
})

test('invalid requests are rejected with their status and code', () => {
  assert.equal(refused(withField(':path', 'a')), '400 bad_target')
  assert.equal(refused(withField(':path', '/a b')), '400 bad_target')
  assert.equal(refused(withField(':path', '/%2e%2e/')), '400 ambiguous_path')
  assert.equal(refused(withField(':authority', 'a b')), '400 bad_host')
  assert.equal(refused(withField(':authority', '')), '400 bad_host')
  assert.equal(refused(withField(':scheme', 'ws')), '400 bad_scheme')
  assert.equal(refused(withField(':method', 'M'.repeat(33))), '400 bad_method')
  assert.equal(refused(withField('host', 'b.test')), '400 authority_mismatch')
  assert.equal(refused([...withField('host', 'a.test'), 'host', 'a.test']), '400 second_host')
  assert.equal(refused(withField('content-length', '1x')), '400 bad_content_length')
  assert.equal(refused([...withField('content-length', '1'), 'content-length', '1']), '400 second_content_length')
  assert.equal(refused(withField('expect', 'x')), '417 unknown_expectation')
  assert.equal(refused([':method', 'CONNECT', ':authority', 'a.test']), '400 bad_target')
  assert.equal(refused(withField(':path', '/' + 'a'.repeat(33_000))), '414 target_too_long')
})

test('a length with leading zeros is written anew', () => {
  const head = accepted([...BASE, 'content-length', '007', 'x', '1'], false)
  assert.equal(head.length, 7)
  assert.equal(head.headers.toText(), 'content-length: 7\r\nx: 1\r\n')
})
