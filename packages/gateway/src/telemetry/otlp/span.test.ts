import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { readSpans } from '../../testing/otlp/otlp-collector.ts'
import { WrittenItems } from '../../testing/written-items.ts'
import type { LogValue } from '../log/access-log.ts'
import { attributeName } from './attributes.ts'
import { createEnvelope } from './envelope.ts'
import { Id } from './id.ts'
import { CLIENT, SERVER, SpanEncoder, type SpanHead } from './span.ts'
import { anyCharacter } from '../../../../http/src/testing/any-character.ts'

const origin = { resource: { 'service.name': 'portico', replicas: 3 }, scope: { name: 'portico', version: '0.1' } }
const wrap = createEnvelope(origin)
const items = new WrittenItems()
const encoder = new SpanEncoder(items)

/** Its spans are plain objects here: types of its own would bring the whole SDK along. */
const { ProtobufTraceSerializer } = createRequire(import.meta.url)('@opentelemetry/otlp-transformer') as {
  ProtobufTraceSerializer: { serializeRequest(spans: object[]): Uint8Array | undefined }
}

interface Span {
  head: SpanHead
  attributes: [name: string, value: LogValue][]
  error: string | null
}

function encode({ head, attributes, error }: Span): void {
  encoder.begin(head)
  for (const [name, value] of attributes) encoder.attribute(attributeName(name), value)
  encoder.end(error)
}

/** The same span as the SDK of OpenTelemetry has it. */
function sdkSpan({ head, attributes, error }: Span): object {
  const { tracestate } = head
  const traceId = head.traceId.hex
  const at = (millis: number): [number, number] => [Math.floor(millis / 1000), Math.round((millis % 1000) * 1_000_000)]
  return {
    name: head.name,
    // Theirs count from 0.
    kind: head.kind - 1,
    spanContext: () => ({
      traceId,
      spanId: head.spanId.hex,
      traceFlags: 1,
      ...(tracestate !== '' && { traceState: { serialize: () => tracestate } }),
    }),
    ...(head.parentId !== null && {
      parentSpanContext: { traceId, spanId: head.parentId.hex, traceFlags: 1, isRemote: head.hasRemoteParent },
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

test('spans are encoded as the OpenTelemetry encoder does', () => {
  const text = fc.string({ unit: anyCharacter, maxLength: 60 })
  const name = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 12 }).map((word) => `x.${word}`)
  const id = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length - 1}}1$`)).map((hex) => Id.of(hex))
  const value: fc.Arbitrary<LogValue> = fc.oneof(
    text,
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.array(text, { maxLength: 3 }),
  )
  const span: fc.Arbitrary<Span> = fc.record({
    head: fc
      .record({
        traceId: id(32),
        spanId: id(16),
        parentId: fc.option(id(16)),
        hasRemoteParent: fc.boolean(),
        tracestate: fc.constantFrom('', 'a=1,b@c=2'),
        name: text,
        kind: fc.constantFrom(SERVER, CLIENT),
        startMs: fc.integer({ min: 0, max: 4_000_000_000_000 }),
        lasts: fc.nat(1_000_000),
      })
      .map(({ lasts, ...head }) => ({
        ...head,
        hasRemoteParent: head.hasRemoteParent && head.parentId !== null,
        endMs: head.startMs + lasts,
      })),
    attributes: fc.uniqueArray(fc.tuple(name, value), { maxLength: 6, selector: ([key]) => key }),
    error: fc.option(text),
  })
  fc.assert(
    fc.property(fc.array(span, { minLength: 1, maxLength: 5 }), (spans) => {
      const theirs = ProtobufTraceSerializer.serializeRequest(spans.map(sdkSpan))
      assert.ok(theirs)
      for (const each of spans) encode(each)
      assert.deepEqual(readSpans(wrap(items.take())), readSpans(theirs))
    }),
  )
})

test('times have fractions, and none ends before it began', () => {
  const head: SpanHead = {
    traceId: Id.of('a'.repeat(32)),
    spanId: Id.of('b'.repeat(16)),
    parentId: null,
    hasRemoteParent: false,
    tracestate: 'x'.repeat(513),
    name: 'n',
    kind: SERVER,
    startMs: 1_763_000_000_000.25,
    endMs: 1_763_000_000_000,
  }
  encode({ head, attributes: [], error: '' })
  const [span] = readSpans(wrap(items.take()))
  assert.deepEqual([span?.start, span?.end], [1_763_000_000_000_250_000n, 1_763_000_000_000_250_000n])
  assert.deepEqual([span?.tracestate, span?.status], ['', { code: 2, message: '' }])
})
