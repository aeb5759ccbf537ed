import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LineBacklog } from './line-writer.ts'

test('lines are collected until they are a batch, and leave in order', () => {
  const backlog = new LineBacklog({ batchLength: 6 })
  assert.equal(backlog.add('one\n', 0), false)
  assert.equal(backlog.hasFullBatch, false)
  assert.equal(backlog.add('two\n', 0), true)
  assert.equal(backlog.add('rest\n', 0), false)
  assert.equal(backlog.batchCount, 2)
  assert.equal(backlog.take().toString(), 'one\ntwo\n')
  assert.equal(backlog.take().toString(), 'rest\n')
  assert.equal(backlog.take().length, 0)
  assert.equal(backlog.hasLines, false)
})

test('lines beyond the limit are counted and reported once, with the lines that follow', () => {
  const backlog = new LineBacklog({ maxBacklog: 10, describeDropped: (count) => `lost ${count}\n` })
  backlog.add('12345678\n', 0)
  backlog.add('too much\n', 0)
  assert.equal(backlog.take().toString(), '12345678\nlost 1\n')
  // Bytes that are still being written count toward the limit too.
  backlog.add('x\n', 9)
  backlog.dropped(2)
  assert.equal(backlog.hasLines, false)
  assert.equal(backlog.batchCount, 1)
  assert.equal(backlog.take().toString(), 'lost 3\n')
  assert.equal(backlog.batchCount, 0)
})

test('a cleared backlog tells of nothing', () => {
  const backlog = new LineBacklog({ batchLength: 1, maxBacklog: 4 })
  backlog.add('one\n', 0)
  backlog.add('two\n', 0)
  backlog.clear()
  assert.equal(backlog.batchCount, 0)
  assert.equal(backlog.add('new\n', 0), true)
  assert.equal(backlog.take().toString(), 'new\n')
})
