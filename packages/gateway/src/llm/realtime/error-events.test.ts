import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { everyCut } from '../../../../chat/src/testing/exchange.ts'
import { ErrorEvents } from './error-events.ts'

const KEY = 'sk-secret'
const hide = (text: string): string => text.replaceAll(KEY, '[redacted]')
const error = (message: string): string => JSON.stringify({ type: 'error', error: { message } })

/** A frame as servers send it. */
function frame(payload: Buffer | string, first = 0x81): Buffer {
  const bytes = Buffer.from(payload)
  const head = Buffer.alloc(bytes.length < 126 ? 2 : bytes.length < 65_536 ? 4 : 10)
  head[0] = first
  head[1] = bytes.length < 126 ? bytes.length : bytes.length < 65_536 ? 126 : 127
  if (head.length === 4) head.writeUInt16BE(bytes.length, 2)
  if (head.length === 10) head.writeBigUInt64BE(BigInt(bytes.length), 2)
  return Buffer.concat([head, bytes])
}

function edited(bytes: Buffer, cuts: readonly number[] = []): Buffer {
  const edit = new ErrorEvents(hide)
  const edges = [0, ...cuts, bytes.length]
  const pieces = edges.slice(1).map((edge, at) => edit.push(Buffer.from(bytes.subarray(edges[at], edge))))
  return Buffer.concat([...pieces, edit.end()])
}

test('an error is heard without the key, wherever its bytes are cut; what stands around it is the same', () => {
  const before = [frame('{"type":"session.created"}'), frame(Buffer.from([1, 2]), 0x82), frame('', 0x89)]
  const after = [frame(`{"delta":"${KEY}"}`), frame('{"a"', 0x01), frame(':1}', 0x80)]
  for (const message of [`no ${KEY}`, `${'x'.repeat(200)} ${KEY} and ${KEY}`]) {
    const bytes = Buffer.concat([...before, frame(error(message)), ...after])
    const wanted = Buffer.concat([...before, frame(error(hide(message))), ...after])
    for (const cuts of everyCut(bytes.length)) assert.deepEqual(edited(bytes, cuts), wanted)
  }
})

test('nothing is held but events that could be errors', () => {
  const edit = new ErrorEvents(hide)
  for (const bytes of [frame('x'.repeat(20_000)), frame('x'.repeat(100), 0x82), frame('x'.repeat(100), 0x01)])
    for (const part of [bytes.subarray(0, 50), bytes.subarray(50)]) assert.equal(edit.push(part).length, part.length)
  assert.equal(edit.push(frame('{"delta":""}').subarray(0, 9)).length, 0)
})

test('bytes that are no frames pass, and frames without errors are the same, however they are cut', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.array(fc.nat(400), { maxLength: 4 }), (bytes, at) => {
      const cuts = at.filter((cut) => cut <= bytes.length).toSorted((a, b) => a - b)
      assert.deepEqual(edited(Buffer.from(bytes), cuts), Buffer.from(bytes))
    }),
  )
  const payloads = fc.array(fc.tuple(fc.string(), fc.constantFrom(0x81, 0x82, 0x01, 0x89)), { maxLength: 5 })
  fc.assert(
    fc.property(payloads, fc.nat(500), (frames, at) => {
      const bytes = Buffer.concat(frames.map(([text, first]) => frame(text, first)))
      assert.deepEqual(edited(bytes, [Math.min(at, bytes.length)]), bytes)
    }),
  )
})
