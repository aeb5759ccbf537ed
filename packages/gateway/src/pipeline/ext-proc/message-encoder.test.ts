import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { HeaderBlock } from '@portico/http'
import { ProcessingRequest } from '../../protos/envoy/service/ext_proc/v3/external_processor.ts'
import { encodeMessage } from './message-encoder.ts'
import { bodyMessage, type ProcessorMessage, type RequestPart, trailersMessage } from './messages.ts'
import { modesOf } from './modes.ts'

/** The same message, by the generated encoder. */
function generated({ part, context, modes, isObserved }: ProcessorMessage): Buffer {
  const message = ProcessingRequest.encode({
    request: partOf(part),
    attributes: context?.attributes ?? new Map(),
    metadataContext: context?.metadataContext,
    observabilityMode: isObserved,
    protocolConfig:
      modes === null
        ? undefined
        : { requestBodyMode: 4, responseBodyMode: 0, sendBodyWithoutWaitingForHeaderResponse: false },
  }).finish()
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

function partOf({ name, kind, fields, body, endOfStream }: RequestPart): ProcessingRequest['request'] {
  const headers = fields.flatMap((key, i) => {
    const rawValue = Buffer.from(fields[i + 1] ?? '', 'latin1')
    return i % 2 === 0 ? [{ key: key.toLowerCase(), value: '', rawValue }] : []
  })
  switch (kind) {
    case 'headers':
      return { $case: `${name}Headers`, value: { headers: { headers }, attributes: new Map(), endOfStream } }
    case 'body':
      return { $case: `${name}Body`, value: { body, endOfStream } }
    case 'trailers':
      return { $case: `${name}Trailers`, value: { trailers: { headers } } }
  }
}

const MODES = modesOf({ responseBodyMode: 'None' })
const text = (max: number) =>
  fc.array(fc.integer({ min: 0x20, max: 0xff }), { maxLength: max }).map((codes) => String.fromCharCode(...codes))
const name = fc.stringMatching(/^:?[A-Za-z0-9_-]{1,200}$/)

test('messages are those of the generated encoder, behind the prefix of gRPC', () => {
  const fields = fc.array(fc.tuple(name, text(400)), { maxLength: 20 }).map((lines) => lines.flat())
  const body = fc.uint8Array({ maxLength: 40_000 }).map((bytes) => Buffer.from(bytes))
  const side = fc.constantFrom('request', 'response')
  const part: fc.Arbitrary<RequestPart> = fc.oneof(
    fc.record({
      name: side,
      kind: fc.constant('headers'),
      fields,
      body: fc.constant(EMPTY),
      endOfStream: fc.boolean(),
    }),
    fc.tuple(side, body, fc.boolean()).map((given) => bodyMessage(...given)),
    fc.tuple(side, fields).map(([of, lines]) => trailersMessage(of, blockOf(lines))),
  )
  const context = fc.constantFrom(
    null,
    { attributes: new Map(), metadataContext: undefined },
    {
      attributes: new Map([['envoy.filters.http.ext_proc', { a: [1, 'b'] }]]),
      metadataContext: { filterMetadata: new Map([['x', { y: 'é' }]]), typedFilterMetadata: new Map() },
    },
  )
  const message = fc.record({ part, context, modes: fc.constantFrom(null, MODES), isObserved: fc.boolean() })
  fc.assert(fc.property(message, (given) => assert.deepEqual(encodeMessage(given), generated(given))))
})

test('a body is copied, because its memory is reused', () => {
  const body = Buffer.from('hello')
  const encoded = encodeMessage({
    part: bodyMessage('request', body, true),
    context: null,
    modes: null,
    isObserved: false,
  })
  body.fill(0)
  assert.ok(encoded.includes('hello'))
})

function blockOf(lines: readonly string[]): HeaderBlock {
  const block = new HeaderBlock()
  lines.forEach((line, i) => i % 2 === 0 && block.addChecked(line, lines[i + 1] ?? ''))
  return block
}

const EMPTY = Buffer.alloc(0)
