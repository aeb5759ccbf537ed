import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { HeaderBlock } from '@portico/http'
import { Id } from '../../telemetry/otlp/id.ts'
import { type IncomingTrace, readTrace, writeTrace } from './trace-headers.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'
const own = { spanId: '00f067aa0ba902b7', parentId: '1111111111111111' }
const span = { id: Id.of(own.spanId), parentId: Id.of(own.parentId) }
const traceparent = `00-${traceId}-${spanId}-01`

const read = (fields: [string, string][]) => readTrace(HeaderBlock.of(fields))

/** Returns the headers of the call that follows a request with these headers. */
function passed(fields: [string, string][]): Record<string, string> {
  const headers = HeaderBlock.of(fields)
  const trace = readTrace(headers)
  assert.ok(trace !== null && trace !== 'refused')
  writeTrace(headers, trace, span)
  const found: Record<string, string> = {}
  headers.forEach((name, value) => (found[name] = value))
  return found
}

test('the header of W3C wins, and takes its state along', () => {
  const state: [string, string][] = [
    ['tracestate', 'a=1'],
    ['tracestate', 'b=2'],
  ]
  assert.deepEqual(read([['traceparent', traceparent], ...state]), {
    traceId,
    spanId,
    flags: 1,
    tracestate: 'a=1, b=2',
    b3: null,
  })
  assert.deepEqual(passed([['traceparent', traceparent], ...state]), {
    traceparent: `00-${traceId}-${own.spanId}-01`,
    tracestate: 'a=1, b=2',
  })
  // A b3 header of another trace is left unchanged.
  const foreign = `${'1'.repeat(32)}-${spanId}-1`
  assert.equal(
    passed([
      ['traceparent', traceparent],
      ['b3', foreign],
    ])['b3'],
    foreign,
  )
})

test('one that is malformed, or there twice, counts for nothing', () => {
  for (const text of ['', 'nonsense', `ff-${traceId}-${spanId}-01`, `00-${'0'.repeat(32)}-${spanId}-01`]) {
    assert.equal(read([['traceparent', text]]), null)
  }
  assert.equal(
    read([
      ['traceparent', traceparent],
      ['traceparent', traceparent],
    ]),
    null,
  )
  const malformed = passed([
    ['traceparent', 'x'],
    ['tracestate', 'a=1'],
    ['b3', `${traceId}-${spanId}`],
  ])
  assert.equal(malformed['tracestate'], undefined)
  assert.equal(malformed['traceparent'], `00-${traceId}-${own.spanId}-01`)
})

test('headers of Zipkin are read, and go on in the form they came in, beside the other', () => {
  const cases: [string, number][] = [
    [`${traceId}-${spanId}-1`, 1],
    [`${traceId}-${spanId}-d`, 1],
    [`${traceId}-${spanId}-0`, 0],
    [`${traceId}-${spanId}`, 1],
    [`${traceId}-${spanId}-1-05e3ac9a4f6e3b90`, 1],
  ]
  for (const [b3, flags] of cases) {
    const found = read([['b3', b3]])
    assert.ok(found !== null && found !== 'refused')
    assert.deepEqual([found.traceId, found.spanId, found.flags], [traceId, spanId, flags], b3)
  }
  assert.deepEqual(passed([['b3', `${traceId}-${spanId}-d`]]), {
    traceparent: `00-${traceId}-${own.spanId}-01`,
    b3: `${traceId}-${own.spanId}-d-${own.parentId}`,
  })
  const short = traceId.slice(16)
  const several: [string, string][] = [
    ['x-b3-traceid', short],
    ['x-b3-spanid', spanId],
    ['x-b3-sampled', '1'],
  ]
  assert.deepEqual(passed(several), {
    traceparent: `00-${'0'.repeat(16)}${short}-${own.spanId}-01`,
    'x-b3-traceid': short,
    'x-b3-spanid': own.spanId,
    'x-b3-parentspanid': own.parentId,
    'x-b3-sampled': '1',
  })
})

test('a refusal without a trace is one', () => {
  assert.equal(read([['b3', '0']]), 'refused')
  assert.equal(read([['x-b3-sampled', '0']]), 'refused')
  assert.equal(read([['b3', '1']]), null)
  assert.equal(read([['x-b3-sampled', '1']]), null)
  for (const wrong of ['x', `${traceId}-${spanId}-2`, traceId, `${'0'.repeat(32)}-${spanId}`, `-${spanId}`]) {
    assert.equal(read([['b3', wrong]]), null, wrong)
  }
})

test('whatever clients send, what goes on can be read again and is of the same trace', () => {
  const value = fc.oneof(
    fc.constantFrom(traceparent, `${traceId}-${spanId}-1`, traceId, spanId, '0', '1', 'd'),
    fc.stringMatching(/^[ -~]{0,80}$/),
  )
  const name = fc.constantFrom('traceparent', 'tracestate', 'b3', 'x-b3-traceid', 'x-b3-spanid', 'x-b3-sampled')
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 6 }), (fields) => {
      const headers = HeaderBlock.of(fields)
      const trace = readTrace(headers)
      if (trace === null || trace === 'refused') return
      writeTrace(headers, trace, span)
      const again = readTrace(headers) as IncomingTrace
      assert.deepEqual([again.traceId, again.spanId, again.flags], [trace.traceId, own.spanId, 1])
    }),
  )
})
