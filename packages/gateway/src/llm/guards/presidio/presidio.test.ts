import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SeenRequest } from '../../../testing/origin.ts'
import { chainOf } from '../chain.ts'
import { guardContext, useGuardTarget } from '../testing/guard-target.ts'
import { createPresidioGuard } from './guard.ts'
import type { PresidioConfig } from './schema.ts'

const response = { message: 'not here', statusCode: 422 }
const plain: PresidioConfig = {
  backendRef: { name: 'backend/presidio' },
  action: 'Mask',
  scoreThreshold: 0.5,
  language: 'en',
  timeout: 10_000,
  failureMode: 'FailClosed',
}

/** Finds every `Ann` and, with a low score, every number; counts characters as Python does. */
function analyze({ body }: SeenRequest): object {
  const { text } = JSON.parse(body) as { text: string[] }
  const length = (part: string) => Array.from(part).length
  return text.map((one) =>
    [...one.matchAll(/Ann|\d+/g)].map(({ 0: match, index }) => ({
      entity_type: match === 'Ann' ? 'PERSON' : 'US_BANK_NUMBER',
      start: length(one.slice(0, index)),
      end: length(one.slice(0, index)) + length(match),
      score: match === 'Ann' ? 0.85 : 0.05,
      analysis_explanation: null,
    })),
  )
}

describe('presidio', () => {
  it('masks entities by their type, behind emoji too, and sends one list', async (t) => {
    const { target, seen } = await useGuardTarget(t, analyze)
    const guard = createPresidioGuard({ ...plain, entities: ['PERSON'], language: 'de' }, target, response)
    const verdict = await guard.check(
      ['😀👩‍👩‍👧 Ann has 7', ' ', 'Annabel'],
      'request',
      guardContext(['user', 'user', 'user']),
    )
    assert.deepEqual(verdict, {
      kind: 'mask',
      texts: ['😀👩‍👩‍👧 <PERSON> has 7', ' ', '<PERSON>abel'],
      found: ['PERSON'],
    })
    assert.deepEqual(
      seen.map(({ method, url, body }) => [method, url, JSON.parse(body)]),
      [
        [
          'POST',
          '/analyze',
          { text: ['😀👩‍👩‍👧 Ann has 7', 'Annabel'], language: 'de', score_threshold: 0.5, entities: ['PERSON'] },
        ],
      ],
    )
  })

  it('rejects instead, and takes lower scores, when the config says so', async (t) => {
    const { target } = await useGuardTarget(t, analyze)
    const guard = createPresidioGuard({ ...plain, action: 'Reject', scoreThreshold: 0.01 }, target, response)
    assert.deepEqual(await guard.check(['a', '12'], 'response', guardContext(['assistant', 'assistant'])), {
      kind: 'reject',
      status: 422,
      body: 'not here',
      found: ['US_BANK_NUMBER'],
      reason: 'the guard rejected it',
    })
    assert.deepEqual(await guard.check(['a'], 'request', guardContext(['user'])), { kind: 'pass' })
  })

  it('passes texts without entities, and asks nobody about nothing', async (t) => {
    const { target, seen } = await useGuardTarget(t, analyze)
    const guard = createPresidioGuard(plain, target, response)
    assert.deepEqual(await guard.check(['b'], 'request', guardContext(['user'])), { kind: 'pass' })
    assert.deepEqual(await guard.check(['', '\n'], 'request', guardContext(['user', 'user'])), { kind: 'pass' })
    assert.equal(seen.length, 1)
  })

  it('only masks, so that it lets pass what nothing can examine', () => {
    const target = { client: { hostname: null, send: () => assert.fail('asked') }, authority: 'a' }
    assert.equal(createPresidioGuard(plain, target, response).masksOnly, true)
    assert.equal(createPresidioGuard({ ...plain, action: 'Reject' }, target, response).masksOnly, false)
  })

  const entity = { entity_type: 'PERSON', start: 0, end: 1, score: 0.9 }
  const wrong: object[] = [
    {},
    [],
    [[], []],
    [null],
    [{}],
    [[null]],
    [[{ ...entity, end: 2 }]],
    [[{ ...entity, start: 2, end: 1 }]],
    [[{ ...entity, entity_type: null }]],
    [[{ ...entity, score: undefined }]],
    [[{ ...entity, score: 'high' }]],
    { error: 'No language provided' },
  ]
  for (const answer of wrong) {
    it(`refuses on ${JSON.stringify(answer)}, which says nothing of the text`, async (t) => {
      const { target } = await useGuardTarget(t, () => answer)
      for (const action of ['Mask', 'Reject'] as const) {
        // An entity beyond the text is no reason to let it pass.
        const chain = chainOf([createPresidioGuard({ ...plain, action }, target, response)], 'request')
        const { verdict } = await chain.run(['a'], guardContext(['user']))
        assert.equal(verdict.kind === 'reject' && verdict.status >= 422, true, action)
      }
    })
  }
})
