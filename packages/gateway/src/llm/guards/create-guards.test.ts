import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Deadlines } from '@portico/http'
import type { GuardTarget } from './ask.ts'
import { createGuards, type GuardEnv, type Vendor } from './create-guards.ts'
import { guardContext, useGuardTarget } from './testing/guard-target.ts'

const response = { message: 'no', statusCode: 403 }

describe('the guards of a config', () => {
  it('are made in order, each with those whom it asks', async (t) => {
    let answer: object = { action: {} }
    const { target, seen } = await useGuardTarget(t, ({ url }) => {
      if (url === '/request') return answer
      if (url === '/v1/moderations') return { results: [{ flagged: false }] }
      if (url.startsWith('/guardrail/')) return { action: 'NONE' }
      return { sanitizationResult: { filterMatchState: 'NO_MATCH_FOUND' } }
    })
    const wanted: (string | Vendor<string>)[] = []
    const env: GuardEnv<string> = {
      shadows: { countShadow() {}, deadlines: new Deadlines(), maxBufferBytes: 0 },
      backend(key): GuardTarget {
        wanted.push(key)
        return target
      },
      vendor(vendor): GuardTarget {
        wanted.push(vendor)
        return target
      },
    }
    const { request } = createGuards(
      {
        request: [
          { regex: { matches: [], builtins: ['Ssn'], action: 'Mask' }, response },
          {
            webhook: { backendRef: { name: 'backend/hook' }, forwardHeaderMatches: [], failureMode: 'FailOpen' },
            response,
          },
          { openAIModeration: { model: 'm', policies: 'with a key' }, response },
          { bedrockGuardrails: { identifier: 'g', version: '1', region: 'us-east-1', policies: 'signed' }, response },
          { googleModelArmor: { templateId: 't', projectId: 'p', location: 'us-central1' }, response },
        ],
      },
      env,
    )
    assert.deepEqual(wanted, [
      'backend/hook',
      { guard: 'openAIModeration', host: 'api.openai.com', region: null, defaultAuth: 'none', policies: 'with a key' },
      {
        guard: 'bedrockGuardrails',
        host: 'bedrock-runtime.us-east-1.amazonaws.com',
        region: 'us-east-1',
        defaultAuth: 'aws',
        policies: 'signed',
      },
      {
        guard: 'googleModelArmor',
        host: 'modelarmor.us-central1.rep.googleapis.com',
        region: null,
        defaultAuth: 'gcp',
        policies: undefined,
      },
    ])
    const { verdict, notes } = await request!.texts(['123-45-6789'], guardContext(['user']))
    assert.deepEqual(verdict, { kind: 'mask', texts: ['<SSN>'], found: ['Ssn'] })
    assert.deepEqual(
      notes.map(({ guard, verdict: note }) => `${guard} ${note}`),
      ['regex mask', 'webhook pass', 'openAIModeration pass', 'bedrockGuardrails pass', 'googleModelArmor pass'],
    )
    assert.equal(seen.length, 4)
    for (const { body } of seen) assert.match(body, /<SSN>/)
    answer = { nothing: 'that the webhook may say' }
    const failed = await request!.texts(['text'], guardContext(['user']))
    assert.equal(failed.notes[1]!.verdict, 'failedOpen')
  })
})
