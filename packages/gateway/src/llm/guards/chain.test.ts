import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { chainOf } from './chain.ts'
import type { Guard, Verdict } from './guard.ts'
import { guardContext } from './testing/guard-target.ts'

const context = guardContext(['user', 'user'])

function guardThat(
  name: string,
  verdict: (texts: readonly string[]) => Verdict | Promise<Verdict>,
  more?: Partial<Guard>,
): Guard {
  return { name, check: (texts) => verdict(texts), ...more }
}

const upper = guardThat('upper', (texts) => ({
  kind: 'mask',
  texts: texts.map((text) => text.toUpperCase()),
  found: ['case'],
}))
const later = guardThat('later', async (texts) => ({
  kind: 'mask',
  texts: texts.map((text) => `${text}!`),
  found: ['end', 'case'],
}))
const passing = guardThat('passing', () => ({ kind: 'pass' }))
const refusing = guardThat('refusing', (texts) => ({
  kind: 'reject',
  status: 418,
  body: 'no',
  found: [`${texts.length} texts`],
  reason: 'test',
}))

describe('a chain of guards', () => {
  it('runs them in order, each with what those before have masked', async () => {
    const outcome = await chainOf([passing, upper, later], 'request').run(['a', 'b'], context)
    assert.deepEqual(outcome.verdict, { kind: 'mask', texts: ['A!', 'B!'], found: ['case', 'end'] })
    assert.deepEqual(outcome.notes, [
      { index: 0, guard: 'passing', verdict: 'pass' },
      { index: 1, guard: 'upper', verdict: 'mask', found: ['case'] },
      { index: 2, guard: 'later', verdict: 'mask', found: ['end', 'case'] },
    ])
  })

  it('stays synchronous as long as the guards do', () => {
    const outcome = chainOf([upper, passing], 'request').run(['a'], context)
    assert.ok(!(outcome instanceof Promise))
    assert.deepEqual(outcome.verdict, { kind: 'mask', texts: ['A'], found: ['case'] })
    assert.deepEqual(chainOf([], 'request').run(['a'], context), { verdict: { kind: 'pass' }, notes: [] })
  })

  it('stops at the first refusal', async () => {
    const { verdict, notes } = await chainOf([later, refusing, upper], 'request').run(['a'], context)
    assert.equal(verdict.kind, 'reject')
    assert.deepEqual(
      notes.map(({ guard }) => guard),
      ['later', 'refusing'],
    )
  })

  it('tells guards the phase and what the texts are', () => {
    const seen: unknown[] = []
    const guard: Guard = {
      name: 'seeing',
      check(...given) {
        seen.push(given)
        return { kind: 'pass' }
      },
    }
    void chainOf([guard], 'response').run(['a', 'b'], context)
    assert.deepEqual(seen, [[['a', 'b'], 'response', context]])
  })

  const broken: Record<string, Guard> = {
    'says so': guardThat('broken', () => ({ kind: 'failed', reason: 'no key' })),
    throws: guardThat('broken', (texts) => {
      throw new Error(`private ${texts[0]}`)
    }),
    rejects: guardThat('broken', (texts) => Promise.reject(new Error(`private ${texts[0]}`))),
    'masks the wrong number of texts': guardThat('broken', () => ({ kind: 'mask', texts: ['one'], found: [] })),
  }
  for (const [name, guard] of Object.entries(broken)) {
    it(`fails closed when a guard ${name}`, async () => {
      const { verdict, notes } = await chainOf([guard, upper], 'request').run(['a', 'b'], context)
      assert.ok(verdict.kind === 'reject')
      assert.deepEqual([verdict.status, verdict.body], [503, 'prompt guard failed'])
      assert.equal(notes.length, 1)
      assert.equal(notes[0]!.verdict, 'failed')
      assert.doesNotMatch(JSON.stringify(notes), /private/)
    })

    it(`goes on when a guard that may fail open ${name}`, async () => {
      const { verdict, notes } = await chainOf([{ ...guard, failsOpen: true }, upper], 'request').run(
        ['a', 'b'],
        context,
      )
      assert.deepEqual(verdict, { kind: 'mask', texts: ['A', 'B'], found: ['case'] })
      assert.equal(notes[0]!.verdict, 'failedOpen')
    })
  }
})
