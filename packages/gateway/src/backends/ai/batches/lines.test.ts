import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { until } from '../../../testing/scene.ts'
import { LineQueue } from './line-queue.ts'
import { LineSplitter } from './line-splitter.ts'

test('lines are the same, wherever the chunks are cut', () => {
  const text = fc.array(fc.constantFrom('a', 'bc', '\n', '\r\n', 'é'), { maxLength: 40 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, fc.array(fc.nat(60), { maxLength: 6 }), (whole, cuts) => {
      const bytes = Buffer.from(whole)
      const lines: string[] = []
      const splitter = new LineSplitter(1_000, (line) => lines.push(line.toString('latin1')))
      const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length]
      for (const [index, place] of places.slice(1).entries()) {
        const chunk = Buffer.from(bytes.subarray(places[index], place))
        assert.ok(splitter.push(chunk))
        // Overwrites the chunk, as the next read of a socket may do.
        chunk.fill(0)
      }
      splitter.end()
      assert.deepEqual(lines, bytes.toString('latin1').match(/[^\n]*\n|[^\n]+$/g) ?? [])
    }),
  )
})

test('a line that is too long is reported before it is whole', () => {
  const splitter = new LineSplitter(10, () => assert.fail('no line is whole'))
  assert.equal(splitter.push(Buffer.from('0123456789')), true)
  assert.equal(splitter.push(Buffer.from('0')), false)
})

test('lines stay in order, however long each check takes, and some are checked at once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(4), { minLength: 1, maxLength: 60 }), async (delays) => {
      const written: number[] = []
      let [running, most, isDrained] = [0, 0, false]
      const queue = new LineQueue<never>({
        write: (_bytes, number) => written.push(number),
        refused: () => assert.fail(),
        failed: () => assert.fail(),
        drained: () => (isDrained = true),
      })
      queue.check = (bytes, number) => {
        const delay = delays[number - 1] ?? 0
        if (delay === 0) return { bytes }
        most = Math.max(most, ++running)
        let later = Promise.resolve()
        for (let turn = 0; turn < delay; turn++) later = later.then(() => {})
        return later.then(() => {
          running--
          return { bytes }
        })
      }
      for (const index of delays.keys()) queue.addLine(Buffer.from('x'), index + 1)
      queue.pump()
      await until(() => queue.isEmpty)
      assert.deepEqual(
        written,
        [...delays.keys()].map((index) => index + 1),
      )
      assert.ok(most <= 16)
      assert.equal(
        isDrained,
        delays.some((delay) => delay > 0),
      )
    }),
  )
})
