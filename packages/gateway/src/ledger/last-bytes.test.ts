import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { Deadlines, type Sink } from '@portico/http'
import { LastBytes } from './last-bytes.ts'

/** A sink that lists its calls, with the calls of the owner between them. */
function useLastBytes(t: TestContext, length: number) {
  const calls: string[] = []
  const state = { now: 0, isEnding: false }
  const deadlines = new Deadlines()
  t.after(() => deadlines.close())
  const sink: Sink = {
    source: null,
    write: (chunk) => void calls.push(chunk.toString()),
    flush: () => (calls.push('flush'), true),
    end: () => void calls.push('end'),
    abort: () => void calls.push('abort'),
  }
  const owner = {
    ending: () => void calls.push('ending'),
    get isEnding() {
      return state.isEnding
    },
  }
  return { calls, state, bytes: new LastBytes(sink, length, owner, deadlines) }
}

describe('the last bytes of a response', () => {
  test('wait for the end of a body of known length, whichever read brings it', (t) => {
    const { calls, bytes } = useLastBytes(t, 6)
    const chunk = Buffer.from('def')
    bytes.write(Buffer.from('abc'))
    bytes.flush()
    bytes.write(chunk)
    bytes.flush()
    // The next read overwrites the buffer.
    chunk.fill('x')
    bytes.end(null)
    assert.deepEqual(calls, ['abc', 'flush', 'flush', 'ending', 'def', 'end'])
  })

  test('begin with the last record of a stream', (t) => {
    const { calls, state, bytes } = useLastBytes(t, -1)
    bytes.write(Buffer.from('token'))
    bytes.flush()
    state.isEnding = true
    bytes.write(Buffer.from('finish'))
    bytes.flush()
    bytes.write(Buffer.from('[DONE]'))
    bytes.end(null)
    assert.deepEqual(calls, ['token', 'flush', 'flush', 'ending', 'finish', '[DONE]', 'end'])
  })

  test('are sent after a moment when a stream stays open', async (t) => {
    const { calls, state, bytes } = useLastBytes(t, -1)
    state.isEnding = true
    bytes.write(Buffer.from('[DONE]'))
    bytes.flush()
    assert.deepEqual(calls, ['flush'])
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        if (!calls.includes('[DONE]')) return
        clearInterval(timer)
        resolve()
      }, 5)
    })
    bytes.write(Buffer.from(': late'))
    bytes.end(null)
    assert.deepEqual(calls, ['flush', '[DONE]', 'flush', ': late', 'ending', 'end'])
  })

  test('are sent when a stream goes on after its last record', (t) => {
    const { calls, state, bytes } = useLastBytes(t, -1)
    state.isEnding = true
    const chunk = Buffer.alloc(40_000)
    bytes.write(chunk)
    assert.equal(calls.length, 0)
    bytes.write(chunk)
    bytes.write(Buffer.from('more'))
    assert.deepEqual(
      calls.map((call) => (call.startsWith('\0') ? call.length : call)),
      [40_000, 40_000, 'flush', 'more'],
    )
    bytes.abort(new Error('broken'))
  })

  test('are never sent when the body breaks off before its end', (t) => {
    const { calls, bytes } = useLastBytes(t, 3)
    bytes.write(Buffer.from('abc'))
    bytes.flush()
    bytes.abort(new Error('broken'))
    assert.deepEqual(calls, ['flush', 'abort'])
  })
})
