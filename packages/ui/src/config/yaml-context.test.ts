import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contextAt } from './yaml-context.ts'

/** `binds[].listeners` and what is written there. */
function at(text: string): string {
  const context = contextAt(text)
  if (context === null) return 'nowhere'
  const { path, isKey, siblings } = context
  const printed = path.map((step) => (step === 'item' ? '[]' : `.${step.key}`)).join('')
  return `${isKey ? 'key' : 'value'} ${printed}${siblings.length === 0 ? '' : ` beside ${siblings.join(' ')}`}`
}

test('keys and values are told by their columns', () => {
  assert.equal(at(''), 'key ')
  assert.equal(at('bin'), 'key ')
  assert.equal(at('binds:\n'), 'key  beside binds')
  assert.equal(at('binds:\n- '), 'key .binds[]')
  assert.equal(at('binds:\n- port: 1\n  list'), 'key .binds[] beside port')
  assert.equal(
    at('binds:\n- port: 1\n  listeners:\n  - name: a\n    protocol: HT'),
    'value .binds[].listeners[].protocol',
  )
  assert.equal(at('binds:\n  - port: 1\n    listeners:\n      - name: a\n      - '), 'key .binds[].listeners[]')
  assert.equal(at('binds:\n- port: 1\n  listeners:\n  - name: a\n- po'), 'key .binds[]')
  assert.equal(at('binds:\n- port: 1\n\n# comment\nback'), 'key  beside binds')
  assert.equal(at('config:\n  logging:\n    level: info\n  dns:\n    '), 'key .config.dns')
  assert.equal(at('config:\n  logging:\n    level: info\n  '), 'key .config beside logging')
})

test('brackets go on over lines', () => {
  assert.equal(at('config: { '), 'key .config')
  assert.equal(at('config: { workers: 1, logging: { level: '), 'value .config.logging.level')
  assert.equal(at('config: { workers: 1, logging: { level: info }, '), 'key .config beside workers logging')
  assert.equal(at('binds: [{ port: 1, listeners: [{ name: a,\n   pro'), 'key .binds[].listeners[] beside name')
  assert.equal(at('a: { b: "x, y: }", '), 'key .a beside b')
  assert.equal(at('a: { b: 1 }\n'), 'key  beside a')
  assert.equal(at('- { name: x, static: { host: "a:1", '), 'key [].static beside host')
})

test('comments and quotes are nobody else’s', () => {
  assert.equal(at('a: 1 # b'), 'nowhere')
  assert.equal(at('a: "b'), 'nowhere')
})
