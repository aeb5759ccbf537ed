import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SeenRequest } from '../../../testing/origin.ts'
import { chainOf } from '../chain.ts'
import { guardContext, useGuardTarget } from '../testing/guard-target.ts'
import { createLakeraGuard } from './guard.ts'

const response = { message: 'not here', statusCode: 422 }
const plain = { action: 'Reject', host: 'api.lakera.ai', timeout: 10_000, failureMode: 'FailClosed' } as const
const context = guardContext(['system', 'user'])

interface ScreenCall {
  messages: { role: string; content: string }[]
}

/** Flags `ignore` as an attack, and `Ann` as personal data. */
function screen({ body }: SeenRequest): object {
  const { messages } = JSON.parse(body) as ScreenCall
  const content = messages.at(-1)?.content ?? ''
  const breakdown = [
    { detector_type: 'prompt_attack', detected: content.includes('ignore') },
    { detector_type: 'pii/name', detected: content.includes('Ann') },
  ]
  const payload = [...content.matchAll(/Ann/g)].map(({ index }) => {
    const start = Array.from(content.slice(0, index)).length
    return { start, end: start + 3, text: 'Ann', detector_type: 'pii/name', labels: [], message_id: 0 }
  })
  return { flagged: breakdown.some(({ detected }) => detected), breakdown, payload, metadata: { request_uuid: 'u' } }
}

describe('lakera', () => {
  it('passes what is not flagged, and sends all texts as one message', async (t) => {
    const { target, seen } = await useGuardTarget(t, screen, 'api.lakera.ai')
    const guard = createLakeraGuard({ ...plain, projectId: 'project-1' }, target, response)
    assert.deepEqual(await guard.check(['be kind', 'hello'], 'request', context), { kind: 'pass' })
    assert.deepEqual(await guard.check(['hello'], 'response', guardContext(['assistant'])), { kind: 'pass' })
    assert.equal(`${seen[0]!.method} ${seen[0]!.headers.host}${seen[0]!.url}`, 'POST api.lakera.ai/v2/guard')
    const more = { breakdown: true, payload: false, project_id: 'project-1' }
    assert.deepEqual(
      seen.map(({ body }) => JSON.parse(body) as unknown),
      [
        { messages: [{ role: 'user', content: 'be kind\nhello' }], ...more },
        { messages: [{ role: 'assistant', content: 'hello' }], ...more },
      ],
    )
  })

  it('refuses what is flagged, and names the detectors', async (t) => {
    const { target } = await useGuardTarget(t, screen)
    const guard = createLakeraGuard(plain, target, response)
    const verdict = await guard.check(['hello', 'ignore Ann'], 'request', context)
    assert.deepEqual(verdict, {
      ...{ kind: 'reject', status: 422, body: 'not here', reason: 'the guard rejected it' },
      found: ['prompt_attack', 'pii/name'],
    })
  })

  it('masks personal data in every text, and still refuses attacks', async (t) => {
    const { target } = await useGuardTarget(t, screen)
    const guard = createLakeraGuard({ ...plain, action: 'Mask' }, target, response)
    assert.deepEqual(await guard.check(['Ann 😀', 'is Ann'], 'request', context), {
      kind: 'mask',
      texts: ['<NAME> 😀', 'is <NAME>'],
      found: ['pii/name'],
    })
    const attack = await guard.check(['ignore', 'Ann'], 'request', context)
    assert.equal(attack.kind, 'reject')
    assert.deepEqual(await guard.check(['a', 'b'], 'request', context), { kind: 'pass' })
  })

  const pii = { detector_type: 'pii/name', detected: true }
  const wrong: object[] = [
    {},
    { flagged: null },
    { flagged: 'no' },
    { flagged: true },
    { flagged: true, breakdown: [pii] },
    { flagged: true, breakdown: [pii], payload: [] },
    { flagged: true, breakdown: [pii], payload: [{ start: 0, end: 1, text: 'b', detector_type: 'pii/name' }] },
    { flagged: true, breakdown: [pii], payload: [{ start: 0, end: 9, text: 'a', detector_type: 'pii/name' }] },
    { flagged: true, breakdown: [{}], payload: [] },
    { error: 'quota' },
  ]
  for (const answer of wrong) {
    it(`refuses on ${JSON.stringify(answer)}, masking or not`, async (t) => {
      const { target } = await useGuardTarget(t, () => answer)
      for (const action of ['Mask', 'Reject'] as const) {
        const chain = chainOf([createLakeraGuard({ ...plain, action }, target, response)], 'request')
        const { verdict } = await chain.run(['a'], guardContext(['user']))
        assert.equal(verdict.kind, 'reject', action)
      }
    })
  }
})
