import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeaderBlock, type Sink, type Source } from '@portico/http'
import { TeeBody } from './tee-body.ts'

/** A reader that tells what came, and takes more only while `isFree`. */
class Reader implements Sink {
  source: Source | null = null
  isFree = true
  readonly got: string[] = []

  write(chunk: Buffer): void {
    this.got.push(chunk.toString())
  }

  flush(): boolean {
    return this.isFree
  }

  end(trailers: HeaderBlock | null): void {
    this.got.push(`end ${trailers?.get('x') ?? ''}`)
  }

  abort(cause: Error): void {
    this.got.push(`abort ${cause.message}`)
  }
}

/** A body that the test writes itself. */
function setUp({ maxWaiting = 100 } = {}) {
  const calls: string[] = []
  const body: Source = {
    length: 7,
    pipe: (sink) => void (sink.source = body),
    resume: () => void calls.push('resume'),
    cancel: (cause) => void calls.push(`cancel ${cause.message}`),
  }
  const tee = new TeeBody(body, maxWaiting)
  const [first, second] = [new Reader(), new Reader()]
  tee.pipe(first)
  const send = (text: string): boolean => {
    tee.write(Buffer.from(text))
    return tee.flush()
  }
  return { tee, first, second, calls, send }
}

test('both readers get the body with its length and trailers', () => {
  const { tee, first, second, send } = setUp()
  assert.deepEqual([tee.length, tee.copy.length], [7, 7])
  tee.copy.pipe(second)
  send('one')
  send('two')
  tee.end(HeaderBlock.of([['x', '1']]))
  assert.deepEqual(first.got, ['one', 'two', 'end 1'])
  assert.deepEqual(second.got, ['one', 'two', 'end 1'])
})

test('a copy that is read late has all of it, once', () => {
  const { tee, second, send } = setUp()
  send('one')
  tee.end(null)
  tee.copy.pipe(second)
  assert.deepEqual(second.got, ['one', 'end '])
  tee.copy.resume()
  assert.deepEqual(second.got, ['one', 'end '])
})

test('the first reader alone sets the pace', () => {
  const { tee, first, second, send, calls } = setUp()
  tee.copy.pipe(second)
  second.isFree = false
  assert.equal(send('one'), true)
  assert.equal(send('two'), true)
  assert.deepEqual(second.got, ['one'], 'a copy that takes no more waits')
  second.isFree = true
  tee.copy.resume()
  assert.deepEqual(second.got, ['one', 'two'])
  first.isFree = false
  assert.equal(send('three'), false)
  tee.resume()
  assert.deepEqual(calls, ['resume'])
})

test('a copy for which more waits than may is given up, and told of once', () => {
  const { tee, first, second, send } = setUp({ maxWaiting: 6 })
  let overflows = 0
  tee.onOverflow(() => overflows++)
  send('one')
  send('two')
  assert.equal(overflows, 0)
  send('3')
  assert.equal(overflows, 1)
  send('four')
  tee.copy.pipe(second)
  tee.end(null)
  assert.deepEqual([first.got, second.got, overflows], [['one', 'two', '3', 'four', 'end '], [], 1])
  let late = 0
  tee.onOverflow(() => late++)
  assert.equal(late, 1, 'who asks later hears of it at once')
})

test('chunks that the copy has taken do not count as waiting', () => {
  const { tee, second, send } = setUp({ maxWaiting: 3 })
  tee.copy.pipe(second)
  for (const text of ['one', 'two', 'abc']) send(text)
  tee.end(null)
  assert.deepEqual(second.got, ['one', 'two', 'abc', 'end '])
})

test('a copy that nobody wants costs nothing more', () => {
  const { tee, first, second, send } = setUp({ maxWaiting: 3 })
  tee.copy.pipe(second)
  tee.copy.cancel(new Error('gone'))
  send('a long text')
  tee.end(null)
  assert.deepEqual([first.got, second.got], [['a long text', 'end '], []])
})

test('a body that breaks off breaks both', () => {
  const { tee, first, second, send } = setUp()
  tee.copy.pipe(second)
  second.isFree = false
  send('one')
  tee.abort(new Error('cut'))
  assert.deepEqual(
    [first.got, second.got],
    [
      ['one', 'abort cut'],
      ['one', 'abort cut'],
    ],
  )
})

test('canceling the body cancels the copy too, unless the body was read whole', () => {
  const cut = setUp()
  cut.tee.copy.pipe(cut.second)
  cut.send('one')
  cut.tee.cancel(new Error('enough'))
  assert.deepEqual(cut.calls, ['cancel enough'])
  assert.deepEqual(cut.second.got, ['one', 'abort enough'])
  assert.equal(cut.send('two'), true)
  assert.deepEqual(cut.first.got, ['one'])

  const whole = setUp()
  whole.send('one')
  whole.tee.end(null)
  whole.tee.cancel(new Error('enough'))
  whole.tee.copy.pipe(whole.second)
  assert.deepEqual([whole.calls, whole.second.got], [[], ['one', 'end ']])
})
