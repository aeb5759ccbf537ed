import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { linesOf } from './lines.ts'
import { anyCharacter } from '../../../http/src/testing/any-character.ts'

test('lines do not depend on chunk borders, and the last needs its newline', async () => {
  const line = fc.string({ unit: anyCharacter }).map((text) => text.replaceAll('\n', ''))
  await fc.assert(
    fc.asyncProperty(
      fc.array(line),
      fc.string({ unit: 'grapheme' }),
      fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
      async (lines, rest, sizes) => {
        const bytes = Buffer.from(lines.map((one) => `${one}\n`).join('') + rest.replaceAll('\n', ''))
        const chunks: Buffer[] = []
        for (let at = 0; at < bytes.length;) {
          const size = sizes.next().value ?? 1
          chunks.push(bytes.subarray(at, at + size))
          at += size
        }
        const expected = Buffer.from(lines.join('\n'))
          .toString()
          .split('\n')
          .filter((one) => one.trim() !== '')
        assert.deepEqual(await collect(chunks, 1_000_000), expected)
      },
    ),
  )
})

test('a line over the limit is an error', async () => {
  await assert.rejects(
    collect(
      Array.from({ length: 20 }, () => Buffer.from('xxxxx')),
      64,
    ),
    /longer than 64 bytes/,
  )
})

async function collect(chunks: readonly Buffer[], maxBytes: number): Promise<string[]> {
  async function* stream(): AsyncGenerator<Buffer> {
    yield* chunks
  }
  return Array.fromAsync(linesOf(stream(), maxBytes))
}
