import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const options = {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  encoding: 'utf8',
}

/** Runs a property with the quick settings; returns the exit code and the output. */
function hold(property) {
  const script = `import * as fc from 'fast-check'; fc.assert(${property})`
  const args = ['--import=./scripts/quick-properties.mjs', '--input-type=module', '-e', script]
  return spawnSync(process.execPath, args, options)
}

test('a machine that stalls before the first case fails no property', () => {
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

test('a property that holds takes at most half a second', () => {
  const { status, stderr } = hold('fc.property(fc.integer(), () => true), { numRuns: 1e9 }')
  assert.equal(status, 0, stderr)
})
