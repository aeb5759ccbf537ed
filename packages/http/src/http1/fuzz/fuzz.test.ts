import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Case } from './cases.ts'
import { escaped, minimise } from './minimise.ts'
import { judge, runSession, type Verdict } from './session.ts'
import { type Shape, smugglingCorpus } from './smuggling-corpus.ts'

test('generated and broken messages are never accepted by ours alone nor read in another way', async () => {
  const { cases, agreed, refusedByBoth, disagreements } = await runSession(1, 3000, () => {})
  const shown = await Promise.all(
    disagreements.slice(0, 3).map(async ({ case: found, problem }) => {
      const least = await minimise(found)
      return `seed ${found.seed}, ${found.direction}: ${problem}: ${escaped(least)}`
    }),
  )
  assert.deepEqual(shown, [])
  // The generator must reach both outcomes often, or the comparison says nothing.
  assert.equal(cases, 3000)
  assert.ok(agreed > 1000, `${agreed} messages agreed on`)
  assert.ok(refusedByBoth > 1000, `${refusedByBoth} cases refused by both`)
})

test('known smuggling shapes get the verdict in the corpus', async () => {
  const verdicts = await judge(smugglingCorpus.map(({ bytes }) => caseOf([Buffer.from(bytes, 'latin1')])))
  assert.deepEqual(verdicts.map(seen), smugglingCorpus.map(expected))
})

test('known smuggling shapes get the same verdict in single bytes', async () => {
  const inDrops = ({ bytes }: Shape): Buffer[] =>
    Array.from(Buffer.from(bytes, 'latin1'), (byte) => Buffer.from([byte]))
  const verdicts = await judge(smugglingCorpus.map((shape) => caseOf(inDrops(shape))))
  const found = verdicts.map((verdict, i) => {
    const verdictSeen = seen(verdict, i)
    // In single bytes, a bare line feed is found before the rest of its line: the same verdict with that code.
    const early = verdictSeen.refused === 'bare_lf' && smugglingCorpus[i]!.refused !== null
    return early ? { ...verdictSeen, refused: smugglingCorpus[i]!.refused } : verdictSeen
  })
  assert.deepEqual(found, smugglingCorpus.map(expected))
})

interface Result extends Omit<Shape, 'bytes'> {
  problem: string | null
}

function seen({ ours, problem }: Verdict, index: number): Result {
  const accepted = ours.messages.filter(({ complete }) => complete).length
  return { name: smugglingCorpus[index]!.name, accepted, refused: ours.refused, problem }
}

function expected({ name, accepted, refused }: Shape): Result {
  return { name, accepted, refused, problem: null }
}

function caseOf(pieces: Buffer[]): Case {
  return { seed: 0, direction: 'request', method: 'GET', ends: false, pieces }
}
