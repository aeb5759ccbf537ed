import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { readSpans } from '../../testing/otlp-collector.ts'
import type { LogValue } from '../log/edited-line.ts'
import { attributeName } from './attributes.ts'
import { createEnvelope } from './envelope.ts'
import { CLIENT, SERVER, SpanEncoder, type SpanHead } from './span.ts'

const origin = { resource: { 'service.name': 'portico', replicas: 3 }, scope: { name: 'portico', version: '0.1' } }
const wrap = createEnvelope(origin)
const encoder = new SpanEncoder()

/** Its spans are plain objects here: types of its own would bring the whole SDK along. */
const { ProtobufTraceSerializer } = createRequire(import.meta.url)('@opentelemetry/otlp-transformer') as {
  ProtobufTraceSerializer: { serializeRequest(spans: object[]): Uint8Array | undefined }
}

interface Span {
  head: SpanHead
  attributes: [name: string, value: LogValue][]
  error: string | null
}

function encode({ head, attributes, error }: Span): Buffer {
  encoder.begin(head)
  for (const [name, value] of attributes) encoder.attribute(attributeName(name), value)
  return encoder.end(error)
}

/** The same span as the SDK of OpenTelemetry has it. */
function sdkSpan({ head, attributes, error }: Span): object {
  const { traceId, tracestate } = head
  const at = (millis: number): [number, number] => [Math.floor(millis / 1000), Math.round((millis % 1000) * 1_000_000)]
  return {
    name: head.name,
    // Theirs count from 0.
    kind: head.kind - 1,
    spanContext: () => ({
      traceId,
      spanId: head.spanId,
      traceFlags: 1,
      ...(tracestate !== '' && { traceState: { serialize: () => tracestate } }),
    }),
    ...(head.parentId !== '' && {
      parentSpanContext: { traceId, spanId: head.parentId, traceFlags: 1, isRemote: head.hasRemoteParent },
    }),
    startTime: at(head.startMs),
    endTime: at(head.endMs),
    attributes: Object.fromEntries(attributes),
    status: error === null ? { code: 0 } : { code: 2, message: error },
    events: [],
    links: [],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
    resource: { attributes: origin.resource },
    instrumentationScope: origin.scope,
  }
}

test('what is sent is what the encoder of OpenTelemetry makes of the same spans', () => {
  const text = fc.string({ unit: 'binary', maxLength: 60 })
  const name = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 12 }).map((word) => `x.${word}`)
  const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length - 1}}1$`))
  const value: fc.Arbitrary<LogValue> = fc.oneof(
    text,
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.array(text, { maxLength: 3 }),
  )
  const span: fc.Arbitrary<Span> = fc.record({
    head: fc
      .record({
        traceId: hex(32),
        spanId: hex(16),
        parentId: fc.oneof(hex(16), fc.constant('')),
        hasRemoteParent: fc.boolean(),
        tracestate: fc.constantFrom('', 'a=1,b@c=2'),
        name: text,
        kind: fc.constantFrom(SERVER, CLIENT),
        startMs: fc.integer({ min: 0, max: 4_000_000_000_000 }),
        lasts: fc.nat(1_000_000),
      })
      .map(({ lasts, ...head }) => ({
        ...head,
        hasRemoteParent: head.hasRemoteParent && head.parentId !== '',
        endMs: head.startMs + lasts,
      })),
    attributes: fc.uniqueArray(fc.tuple(name, value), { maxLength: 6, selector: ([key]) => key }),
    error: fc.option(text),
  })
  fc.assert(
    fc.property(fc.array(span, { minLength: 1, maxLength: 5 }), (spans) => {
      const theirs = ProtobufTraceSerializer.serializeRequest(spans.map(sdkSpan))
      assert.ok(theirs)
      assert.deepEqual(readSpans(wrap(spans.map(encode))), readSpans(theirs))
    }),
  )
})

test('times have fractions, and none ends before it began', () => {
  const head: SpanHead = {
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    parentId: '',
    hasRemoteParent: false,
    tracestate: 'x'.repeat(513),
    name: 'n',
    kind: SERVER,
    startMs: 1_763_000_000_000.25,
    endMs: 1_763_000_000_000,
  }
  const [span] = readSpans(wrap([encode({ head, attributes: [], error: '' })]))
  assert.deepEqual([span?.start, span?.end], [1_763_000_000_000_250_000n, 1_763_000_000_000_250_000n])
  assert.deepEqual([span?.tracestate, span?.status], ['', { code: 2, message: '' }])
})
