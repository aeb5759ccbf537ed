import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const options = {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  encoding: 'utf8',
}

/** The exit code and what was said of a property, with the settings of a quick run. */
function hold(property) {
  const script = `import * as fc from 'fast-check'; fc.assert(${property})`
  const args = ['--import=./scripts/quick-properties.mjs', '--input-type=module', '-e', script]
  return spawnSync(process.execPath, args, options)
}

test('a machine that stands still before the first case fails no property', () => {
  const late = 'fc.constant(0).map(() => { const end = Date.now() + 600; while (Date.now() < end); return 0 })'
  const { status, stderr } = hold(`fc.property(${late}, () => false)`)
  assert.equal(status, 0, stderr)
})

test('a property that does not hold fails, with the case and the cause', () => {
  const { status, stderr } = hold(`fc.property(fc.integer(), (n) => { if (n > 7) throw new Error('over seven') })`)
  assert.equal(status, 1)
  assert.match(stderr, /Counterexample: \[\d+\]/)
  assert.match(stderr, /over seven/)
})

test('one that holds is asked for no longer than half a second', () => {
  const { status, stderr } = hold('fc.property(fc.integer(), () => true), { numRuns: 1e9 }')
  assert.equal(status, 0, stderr)
})
