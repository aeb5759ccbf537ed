import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SeenRequest } from '../../../testing/origin.ts'
import { chainOf } from '../chain.ts'
import { guardContext, useGuardTarget } from '../testing/guard-target.ts'
import { createOpenAIModerationGuard } from './guard.ts'

const response = { message: 'not here', statusCode: 422 }
const config = { model: 'omni-moderation-latest' }
const context = guardContext(['user', 'user'])

/** Flags every text with `hate` in it, as the API does. */
function moderate({ body }: SeenRequest): object {
  const { input, model } = JSON.parse(body) as { input: string[]; model: string }
  const results = input.map((text) => {
    const isHate = text.includes('hate')
    return { flagged: isHate, categories: { hate: isHate, 'hate/threatening': isHate, violence: false } }
  })
  return { id: 'modr-1', model, results }
}

describe('openAIModeration', () => {
  it('passes what is not flagged', async (t) => {
    const { target, seen } = await useGuardTarget(t, moderate, 'api.openai.com')
    const guard = createOpenAIModerationGuard(
      config,
      { ...target, sign: () => [['authorization', 'Bearer k']] },
      response,
    )
    assert.deepEqual(await guard.check(['hello', ' ', 'world'], 'request', context), { kind: 'pass' })
    assert.equal(`${seen[0]!.method} ${seen[0]!.headers.host}${seen[0]!.url}`, 'POST api.openai.com/v1/moderations')
    assert.equal(seen[0]!.headers.authorization, 'Bearer k')
    assert.deepEqual(JSON.parse(seen[0]!.body), { model: 'omni-moderation-latest', input: ['hello', 'world'] })
  })

  it('refuses when one text is flagged, and names the categories', async (t) => {
    const { target } = await useGuardTarget(t, moderate)
    const guard = createOpenAIModerationGuard(config, target, response)
    assert.deepEqual(await guard.check(['hello', 'I hate you'], 'request', context), {
      kind: 'reject',
      status: 422,
      body: 'not here',
      found: ['hate', 'hate/threatening'],
      reason: 'flagged',
    })
  })

  it('asks nobody about nothing', async (t) => {
    const { target, seen } = await useGuardTarget(t, moderate)
    const guard = createOpenAIModerationGuard(config, target, response)
    assert.deepEqual(await guard.check(['', '\n'], 'request', context), { kind: 'pass' })
    assert.equal(seen.length, 0)
  })

  const wrong: object[] = [
    {},
    { results: [] },
    { results: [{ flagged: false }] },
    { results: [{ flagged: false }, {}] },
    { results: [{ flagged: false }, { flagged: 'no' }] },
    { error: { message: 'quota' } },
  ]
  for (const answer of wrong) {
    it(`refuses on ${JSON.stringify(answer)}, which does not judge both texts`, async (t) => {
      const { target } = await useGuardTarget(t, () => answer)
      const chain = chainOf([createOpenAIModerationGuard(config, target, response)], 'request')
      const { verdict } = await chain.run(['a', 'b'], context)
      assert.equal(verdict.kind === 'reject' && `${verdict.status} ${verdict.body}`, '503 prompt guard failed')
    })
  }

  it('refuses when the key is not taken', async (t) => {
    const { target } = await useGuardTarget(t, (_seen, reply) => {
      reply.writeHead(401).end('{"error":{}}')
      return undefined
    })
    const chain = chainOf([createOpenAIModerationGuard(config, target, response)], 'request')
    const { verdict, notes } = await chain.run(['a'], guardContext(['user']))
    assert.equal(verdict.kind === 'reject' && verdict.status, 503)
    assert.match(notes[0]!.reason!, /status 401/)
  })
})
