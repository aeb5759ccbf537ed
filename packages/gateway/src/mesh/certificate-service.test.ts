import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import * as fc from 'fast-check'
import { CREATE_CERTIFICATE } from './certificate-service.ts'

const { encode, decode } = CREATE_CERTIFICATE

test('a request has the fields of `security/v1alpha1/ca.proto` of Istio: csr 1, validity_duration 3', () => {
  // Tag 0x0a is field 1 as text, tag 0x18 is field 3 as a number.
  assert.equal(Buffer.from(encode({ csr: 'AB', validitySeconds: 300 })).toString('hex'), '0a02414218ac02')
})

test('a response is its texts in order, whatever fields a newer CA adds', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.integer({ min: 2, max: 100 }), (chain, other) => {
      const writer = new BinaryWriter()
      for (const pem of chain) {
        writer.tag(1, WireType.LengthDelimited).string(pem)
        writer.tag(other, WireType.Varint).int32(7)
      }
      assert.deepEqual(decode(writer.finish()), chain)
    }),
  )
})

test('any bytes are texts or an error, and never hang', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        for (const text of decode(bytes)) assert.equal(typeof text, 'string')
      } catch (error) {
        assert.ok(error instanceof Error)
      }
    }),
  )
})
