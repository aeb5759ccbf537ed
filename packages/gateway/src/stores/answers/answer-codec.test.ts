import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { type AnswerCodec, plainCodec, sealedCodec } from './answer-codec.ts'

const [KEY_A, KEY_B] = ['0123456789abcdef'.repeat(4), 'fedcba9876543210'.repeat(4)]
const codecs: readonly [name: string, codec: AnswerCodec][] = [
  ['plain', plainCodec],
  ['encrypted', sealedCodec([KEY_A])],
]
const headers = [['content-type', 'application/json']] as const
const answer = { headers, body: Buffer.from('{"text":"hello\\n"}') }

for (const [name, codec] of codecs) {
  describe(`the ${name} form of an answer`, () => {
    test('gives back every body, text or not', () => {
      fc.assert(
        fc.property(fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.string({ unit: 'binary' })), (content) => {
          const body = Buffer.from(content as string)
          // Redis and its client handle values as text.
          const text = Buffer.from(codec.encode('key', { headers, body })).toString('utf8')
          assert.deepEqual(codec.decode('key', text), { headers, body })
        }),
        { numRuns: 200 },
      )
    })

    test('is a miss when it is cut, changed anywhere, longer, or of another request', () => {
      const text = codec.encode('key', answer)
      for (let at = 0; at < text.length; at += 1) {
        assert.equal(codec.decode('key', text.slice(0, at)), null, `cut at ${at}`)
        const changed = `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`
        // The unused bits at the end of base64 carry nothing.
        const found = codec.decode('key', changed)
        if (found !== null) assert.deepEqual([found, at > text.length - 4], [answer, true], `changed at ${at}`)
      }
      assert.equal(codec.decode('another key', text), null)
      assert.equal(codec.decode('key', `${text}{"more":1}`), null)
    })

    test('is a miss when the text is anything else', () => {
      fc.assert(
        fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (text) => {
          assert.equal(codec.decode('key', text), null)
        }),
        { numRuns: 200 },
      )
      for (const text of ['', '\n', '\n\n', 'portico-answer-2 x\n{}\n', 'portico-answer-1 x\n{}\n']) {
        assert.equal(codec.decode('key', text), null)
      }
    })
  })
}

test('one form is not taken for the other', () => {
  const [[, plain], [, sealed]] = codecs as [(typeof codecs)[number], (typeof codecs)[number]]
  assert.equal(plain.decode('key', sealed.encode('key', answer)), null)
  assert.equal(sealed.decode('key', plain.encode('key', answer)), null)
})

test('an encrypted answer shows nothing, and opens only with its key, old keys included', () => {
  const text = sealedCodec([KEY_A]).encode('key', answer)
  assert.doesNotMatch(Buffer.from(text.split(' ')[1] ?? '', 'base64').toString('latin1'), /hello|json/)
  assert.deepEqual(sealedCodec([KEY_B, KEY_A]).decode('key', text), answer)
  assert.equal(sealedCodec([KEY_B]).decode('key', text), null)
})

test('headers that could break a response are a miss', () => {
  for (const header of [['a', 'x\r\ny: z'], ['A b', 'x'], ['a'], ['a', 1], 'a'] as unknown as [string, string][]) {
    assert.equal(plainCodec.decode('key', plainCodec.encode('key', { headers: [header], body: answer.body })), null)
  }
})
