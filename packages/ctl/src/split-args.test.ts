import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { splitArgs } from './split-args.ts'

test('arguments split at the first -- and nowhere else', () => {
  assert.deepEqual(splitArgs(['trace', '--local', '--port', '80', '--', 'http://x/', '-d', 'a', '--', 'b']), {
    own: ['trace', '--local', '--port', '80'],
    afterDashes: ['http://x/', '-d', 'a', '--', 'b'],
  })
  assert.deepEqual(splitArgs(['trace', '--']), { own: ['trace'], afterDashes: [] })
  assert.deepEqual(splitArgs(['trace', '--local']), { own: ['trace', '--local'], afterDashes: null })
})

test('nothing is lost or changed by the split', () => {
  const word = fc.oneof(fc.constant('--'), fc.string())
  fc.assert(
    fc.property(fc.array(word), (args) => {
      const { own, afterDashes } = splitArgs(args)
      assert.ok(!own.includes('--'))
      assert.deepEqual(afterDashes === null ? own : [...own, '--', ...afterDashes], args)
    }),
  )
})
