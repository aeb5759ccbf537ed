import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sink, Source } from './body.ts'
import { HeaderBlock } from '../fields/header-block.ts'
import { ObservedBody } from './observed-body.ts'

/** A body that the test writes by hand, between its source and its consumer. */
function useBody() {
  const events: string[] = []
  let into: Sink | null = null
  const source: Source = {
    length: 7,
    pipe: (sink) => (into = sink),
    resume: () => events.push('resumed'),
    cancel: ({ message }) => events.push(`canceled: ${message}`),
  }
  const body = new ObservedBody(source, {
    chunk: (chunk) => events.push(`saw ${chunk.toString()}`),
    over: (whole, cause) => events.push(`over ${whole} ${cause?.message}`),
  })
  body.pipe({
    source: null,
    write: (chunk) => events.push(`got ${chunk.toString()}`),
    flush: () => true,
    end: (trailers) => events.push(`ended ${trailers?.get('x-sum')}`),
    abort: ({ message }) => events.push(`aborted: ${message}`),
  })
  assert.ok(into !== null)
  return { body, into: into as Sink, events }
}

test('chunks and the end are observed before the consumer gets them', () => {
  const { body, into, events } = useBody()
  assert.equal(body.length, 7)
  into.write(Buffer.from('one'))
  into.end(HeaderBlock.of([['x-sum', '1']]))
  assert.deepEqual(events, ['saw one', 'got one', 'over true undefined', 'ended 1'])
})

test('a body that breaks off is not whole, and its cause is known', () => {
  const { into, events } = useBody()
  into.abort(new Error('reset'))
  assert.deepEqual(events, ['over false reset', 'aborted: reset'])
})

test('a canceled body is not whole, and is over only once', () => {
  const { body, into, events } = useBody()
  body.cancel(new Error('enough'))
  assert.deepEqual(events, ['over false undefined', 'canceled: enough'])
  into.abort(new Error('late'))
  assert.equal(events.filter((event) => event.startsWith('over')).length, 1)
})
