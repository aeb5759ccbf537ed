import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeaderBlock } from '@portico/http'
import type { CredentialPlace } from '../llm/providers/provider.ts'
import { redactRepeated } from './repeated-credentials.ts'

function hidden(text: string, headers: Record<string, string>, credential: CredentialPlace, target = '/'): string {
  return redactRepeated(text, { headers: HeaderBlock.of(Object.entries(headers)), target }, { credential })
}

const bearer = { authorization: 'Bearer sk-proj-abcdef123456' }

test('the key is hidden whole, half hidden and escaped', () => {
  const said = (text: string) => hidden(text, bearer, { by: 'gateway' })
  assert.equal(said('Incorrect key: sk-proj-abcdef123456.'), 'Incorrect key: [redacted].')
  assert.equal(said('Incorrect key: sk-pr***********3456.'), 'Incorrect key: [redacted].')
  assert.equal(said('Incorrect key: sk-p...3456!'), 'Incorrect key: [redacted]!')
  assert.equal(said('header Bearer sk-proj-abcdef123456'), 'header [redacted]')
  assert.equal(
    said('no model sk-... by that name; desk-top *** here'),
    'no model [redacted] by that name; desk-top *** here',
  )
  assert.equal(said('nothing to hide'), 'nothing to hide')
})

test('a key is known wherever the config puts it', () => {
  const key = 'k3y/with+signs='
  assert.equal(hidden(`got ${key}`, { 'x-api-key': key }, { by: 'gateway' }), 'got [redacted]')
  assert.equal(hidden(`got ${key}`, { 'x-team': key }, { by: 'config', header: 'x-team' }), 'got [redacted]')
  assert.equal(hidden(`got ${key}`, { 'x-team': key }, { by: 'gateway' }), `got ${key}`)
  // As some writers of JSON have it.
  assert.equal(hidden('got k3y\\/with+signs=', { 'x-api-key': key }, { by: 'gateway' }), 'got [redacted]')
  const target = `/v1/x?a=short&key=${encodeURIComponent(key)}`
  const inQuery = { by: 'config', header: null } as const
  assert.equal(hidden(`${key} at ${target}`, {}, inQuery, target), '[redacted] at /v1/x?a=short&key=[redacted]')
})
