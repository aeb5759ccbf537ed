import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { HeaderBlock } from '@portico/http'
import { parseRequestHead } from '../../../../http/src/http1/head.ts'
import { readTarget } from '../../../../http/src/http1/target.ts'
import { MessageHead } from '@portico/http/server'
import { editableAttempt, editableRequest } from './editable-message.ts'
import type { OutgoingRequest } from '../context/outgoing.ts'
import type { RequestContext } from '../context/request-context.ts'

const LIMITS = { maxHeaders: 10, maxTarget: 32_768 }

/** Returns the parsed request with these parts, or null when the parser rejects them. */
function parsed(
  method: string,
  target: string,
  host: string,
): { method: string; authority: string; target: string } | null {
  const head = parseRequestHead(`${method} ${target} HTTP/1.1\r\nhost: ${host}\r\n\r\n`, LIMITS)
  if (!(head instanceof MessageHead)) return null
  const found = readTarget(head.method, head.target, head.host)
  return 'problem' in found ? null : { method: head.method, ...found }
}

/** A request whose parts remember what was set. */
function recorder() {
  const seen: Record<string, string> = {}
  const rx = {
    headers: new HeaderBlock(),
    exchange: {},
    get method() {
      return seen[':method'] ?? 'GET'
    },
    set method(value: string) {
      seen[':method'] = value
    },
    setTarget: (value: string) => (seen[':path'] = value),
    setAuthority: (value: string) => (seen[':authority'] = value),
  } as unknown as RequestContext
  return { seen, message: editableRequest(rx) }
}

const text = fc.string({
  unit: fc.constantFrom(
    ...'aZ09/.%2eEfF5cC?#\\;:@[]&=+~-_!,*'.split(''),
    ' ',
    '\t',
    '\r',
    '\n',
    '\0',
    '\x7f',
    '\xe9',
    '\u010a',
  ),
  maxLength: 12,
})
const runs = { seed: 12, numRuns: 20_000 }

test('a path may be set exactly when a client may send it', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        text,
        text.map((rest) => `/${rest}`),
      ),
      (path) => {
        const { seen, message } = recorder()
        const accepted = message.setPart(':path', path)
        const wanted = path.startsWith('/') && parsed('GET', path, 'a')?.target === path
        assert.equal(accepted, wanted)
        assert.equal(seen[':path'], wanted ? path : undefined)
      },
    ),
    runs,
  )
  assert.ok(recorder().message.setPart(':path', `/${'a'.repeat(32_767)}`))
  assert.ok(!recorder().message.setPart(':path', `/${'a'.repeat(32_768)}`))
})

test('a method may be set exactly when a client may send it, but for CONNECT', () => {
  fc.assert(
    fc.property(fc.oneof(text, fc.constantFrom('GET', 'CONNECT', 'connect', 'M-SEARCH', 'A'.repeat(33))), (method) => {
      const { seen, message } = recorder()
      const accepted = message.setPart(':method', method)
      const wanted = method !== 'CONNECT' && method.length <= 32 && parsed(method, '/', 'a')?.method === method
      assert.equal(accepted, wanted)
      assert.equal(seen[':method'], wanted ? method : undefined)
    }),
    runs,
  )
})

test('an authority may be set exactly when a client may send it', () => {
  const address = fc.constantFrom('[::1]', '[::1]:80', 'a:80', 'a:123456', 'a:', ':80', '[a', '1.2.3.4')
  fc.assert(
    fc.property(fc.oneof(text, address), fc.constantFrom(':authority', 'host'), (authority, name) => {
      const { seen, message } = recorder()
      const accepted = message.setPart(name, authority)
      const wanted = parsed('GET', '/', authority)?.authority === authority
      assert.equal(accepted, wanted)
      assert.equal(seen[':authority'], wanted ? authority : undefined)
    }),
    runs,
  )
})

test('an attempt takes the same, and other names are no parts', () => {
  const outgoing = { method: 'GET', target: '/', authority: 'a', headers: new HeaderBlock() } as OutgoingRequest
  const message = editableAttempt(outgoing, {} as RequestContext)
  for (const [name, value] of [
    [':method', 'PUT'],
    [':path', '/b'],
    ['host', 'b'],
  ]) {
    assert.ok(message.setPart(name!, value!))
  }
  for (const [name, value] of [
    [':method', 'CONNECT'],
    [':path', '/../b'],
    [':authority', 'b/c'],
    [':scheme', 'https'],
    [':status', '200'],
  ]) {
    assert.ok(!message.setPart(name!, value!))
  }
  assert.deepEqual([outgoing.method, outgoing.target, outgoing.authority], ['PUT', '/b', 'b'])
})
