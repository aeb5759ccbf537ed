import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { BATCH, batchStage, OVERLAP } from './batch-stage.ts'
import type { Mask, Pass, Rejection } from './guard.ts'
import { PASS } from './guard.ts'
import { joinPassages } from './passage.ts'
import type { Release } from './stage.ts'
import { cutAt, somePlaces } from './testing/splits.ts'

const REJECTION: Rejection = { kind: 'reject', status: 403, body: 'no', found: [], reason: 'test' }

describe('checking a text that comes in pieces', () => {
  it('asks about batches, each with the end of the one before', async () => {
    const asked: string[] = []
    const text = Array.from({ length: 900 }, (_, index) => String(index).padStart(4, '0')).join(' ')
    const released = await run(text.split(''), (batch) => {
      asked.push(batch)
      return PASS
    })
    assert.equal(released, text)
    assert.ok(asked.length > 3)
    for (const [index, batch] of asked.entries()) {
      assert.ok(batch.length <= BATCH + OVERLAP)
      if (index > 0) assert.ok(batch.startsWith(asked[index - 1]!.slice(-OVERLAP)))
    }
  })

  for (const space of [' ', '\n', '\r', '\t', '\u00a0', '\u3002']) {
    it(`cuts batches behind ${JSON.stringify(space)}, and not within words`, async () => {
      const asked: string[] = []
      const word = 'w'.repeat(29) + space
      await run(word.repeat(100).split(''), (batch) => {
        asked.push(batch)
        return PASS
      })
      assert.ok(asked.length > 2)
      for (const batch of asked) assert.ok(batch.endsWith(space), JSON.stringify(batch.slice(-40)))
    })
  }

  it('asks once about a short text, and never about none', async () => {
    const asked: string[] = []
    const check = (batch: string): Pass => {
      asked.push(batch)
      return PASS
    }
    assert.equal(await run(['short ', 'text'], check), 'short text')
    assert.equal(await run([], check), '')
    assert.equal(await run(['', ''], check), '')
    assert.deepEqual(asked, ['short text'])
  })

  it('lets nothing go before it was checked', () => {
    let unchecked = 0
    const stage = batchStage((batch) => {
      unchecked = 0
      assert.ok(batch.length > 0)
      return PASS
    })
    let waiting = 0
    for (let index = 0; index < 5_000; index++) {
      unchecked++
      waiting++
      const released = stage.push('x')
      assert.ok(!(released instanceof Promise))
      waiting -= textReleased(released).length
      assert.ok(waiting >= unchecked)
    }
  })

  it('ends with a refusal', async () => {
    const text = `${'a '.repeat(800)}bad ${'b '.repeat(800)}`
    const released: string[] = []
    const stage = batchStage((batch) => (batch.includes('bad') ? REJECTION : PASS))
    for (const piece of text) {
      const next = await stage.push(piece)
      if ('kind' in next) {
        assert.equal(next, REJECTION)
        assert.ok(text.startsWith(released.join('')) && !released.join('').includes('bad'))
        return
      }
      released.push(joinPassages(next))
    }
    assert.fail('not refused')
  })

  it('refuses at the end, too', async () => {
    const stage = batchStage(() => REJECTION)
    assert.deepEqual(await stage.push('short'), [])
    assert.equal(await stage.end(), REJECTION)
  })

  const words = fc.constantFrom(
    'secret-abc',
    'secret-zzzzzzzzzzzzzzzzzzzz',
    'plain',
    'se',
    'secret-',
    'x'.repeat(200),
    '😀',
  )
  const between = fc.constantFrom(' ', '\n', ', ', '', '-', '。', '.')
  const text = fc
    .array(fc.tuple(words, between), { minLength: 5, maxLength: 300, size: 'max' })
    .map((pieces) => pieces.flat().join(''))

  it('gives what masking the whole gives', async () => {
    await fc.assert(
      fc.asyncProperty(text, somePlaces, fc.boolean(), async (given, places, isLater) => {
        const check = (batch: string): Pass | Mask | Promise<Pass | Mask> =>
          isLater ? Promise.resolve(maskSecrets(batch)) : maskSecrets(batch)
        assert.equal(await run(cutAt(given, places), check), hide(given))
      }),
      { numRuns: 300 },
    )
  })

  it('masks a text that ends where a batch and a mask do', async () => {
    const text = `secret-abc ${'x'.repeat(BATCH - 22)} secret-abc`
    assert.equal(text.length, BATCH)
    assert.equal(await run([text], maskSecrets), hide(text))
  })

  it('lets go of a mask that ends where the overlap begins, and keeps the one behind it', () => {
    // A space that parts words, but no place to cut a batch.
    const gap = '\u2003'
    const before = `${'w'.repeat(BATCH - OVERLAP - 11)}${gap}secret-abc`
    const text = `${before}${gap}${'x'.repeat(OVERLAP - 12)}${gap}secret-abc`
    assert.equal(text.length, BATCH)
    const released = batchStage(maskSecrets).push(text)
    assert.ok(!(released instanceof Promise))
    assert.equal(textReleased(released), hide(before))
  })

  it('never parts a character', async () => {
    await fc.assert(
      fc.asyncProperty(text, somePlaces, async (given, places) => {
        const stage = batchStage(maskSecrets)
        const pieces: Release[] = []
        for (const piece of cutAt(`😀${given}`.repeat(3), places)) pieces.push(await stage.push(piece))
        pieces.push(await stage.end())
        for (const piece of pieces) assert.ok(textReleased(piece).isWellFormed())
      }),
    )
  })

  it('cuts a text without spaces between characters of two units, wherever those begin', () => {
    for (const before of ['', 'x']) {
      const released = batchStage(() => PASS).push(before + '😀'.repeat(BATCH))
      assert.ok(!(released instanceof Promise))
      const text = textReleased(released)
      assert.ok(text.isWellFormed() && text.length > 0, JSON.stringify(text.slice(-4)))
    }
  })

  it('asks about whole characters only', async () => {
    for (const before of ['', 'x']) {
      const asked: string[] = []
      await run([before + '😀'.repeat(2 * BATCH)], (batch) => {
        asked.push(batch)
        return PASS
      })
      assert.ok(asked.length > 2)
      for (const batch of asked) assert.ok(batch.isWellFormed())
    }
  })

  it('waits no longer than it must for the end of a mask that has none', async () => {
    const text = 'x'.repeat(20_000)
    const released = await run(text.split(''), (batch) => ({
      kind: 'mask',
      texts: ['y'.repeat(batch.length)],
      found: [],
    }))
    assert.equal(released, 'y'.repeat(20_000))
  })
})

function hide(text: string): string {
  return text.replaceAll(/secret-[a-z]{1,40}/g, '<hidden>')
}

function maskSecrets(batch: string): Pass | Mask {
  const masked = hide(batch)
  return masked === batch ? PASS : { kind: 'mask', texts: [masked], found: ['secret'] }
}

async function run(pieces: readonly string[], check: Parameters<typeof batchStage>[0]): Promise<string> {
  const stage = batchStage(check)
  let released = ''
  for (const piece of pieces) {
    const next = await stage.push(piece)
    released += textReleased(next)
  }
  const rest = await stage.end()
  return released + textReleased(rest)
}

function textReleased(released: Release): string {
  return 'kind' in released ? assert.fail('refused') : joinPassages(released)
}
