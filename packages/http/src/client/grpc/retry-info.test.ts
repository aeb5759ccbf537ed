import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import * as fc from 'fast-check'
import { readRetryInfo } from './retry-info.ts'

function field(number: number, content: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(content).finish()
}

function details(type: string, seconds: number, nanos: number): string {
  const duration = new BinaryWriter()
  if (seconds !== 0) duration.tag(1, WireType.Varint).int64(seconds)
  if (nanos !== 0) duration.tag(2, WireType.Varint).int32(nanos)
  const any = Buffer.concat([field(1, Buffer.from(type)), field(2, field(1, duration.finish()))])
  const code = new BinaryWriter().tag(1, WireType.Varint).int32(8).finish()
  return Buffer.concat([code, field(2, Buffer.from('busy')), field(3, any)]).toString('base64')
}

test('the delay is read, in milliseconds', () => {
  const type = 'type.googleapis.com/google.rpc.RetryInfo'
  assert.equal(readRetryInfo(details(type, 2, 500_000_000)), 2500)
  assert.equal(readRetryInfo(details(type, 0, 0)), 0)
  assert.equal(readRetryInfo(details(type, -5, 0)), 0)
  assert.equal(readRetryInfo(details(type, 3, 0).replace(/=+$/, '')), 3000, 'gRPC leaves the padding out')
})

test('other details, and invalid details, give no delay', () => {
  assert.equal(readRetryInfo(details('type.googleapis.com/google.rpc.ErrorInfo', 2, 0)), null)
  for (const text of [null, '', '!', 'AAAA']) assert.equal(readRetryInfo(text), null)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const found = readRetryInfo(Buffer.from(bytes).toString('base64'))
      assert.ok(found === null || found >= 0)
    }),
  )
})
