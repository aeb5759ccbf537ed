import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SignableRequest } from '../ask.ts'
import { chainOf } from '../chain.ts'
import { guardContext, useGuardTarget } from '../testing/guard-target.ts'
import { bedrockHost, createBedrockGuardrailsGuard } from './guard.ts'

const response = { message: 'not here', statusCode: 403 }
const config = { identifier: 'gr-1', version: 'DRAFT', region: 'eu-west-1' }
const context = guardContext(['user', 'user'])

const anonymized = {
  sensitiveInformationPolicy: { piiEntities: [{ type: 'NAME', match: 'Bob', action: 'ANONYMIZED' }] },
}
const blocked = { topicPolicy: { topics: [{ name: 'Finance', type: 'DENY', action: 'BLOCKED' }] } }
const detected = { contentPolicy: { filters: [{ type: 'HATE', confidence: 'LOW', action: 'NONE' }] } }
const outputs = [{ text: 'hello {NAME}' }, { text: 'bye' }]

describe('bedrockGuardrails', () => {
  it('sends the texts to the guardrail, signed', async (t) => {
    const { target, seen } = await useGuardTarget(
      t,
      () => ({ action: 'NONE', outputs: [], assessments: [] }),
      bedrockHost(config),
    )
    const signed: SignableRequest[] = []
    const sign = async (request: SignableRequest): Promise<[string, string][]> => {
      signed.push(request)
      return [
        ['authorization', 'AWS4-HMAC-SHA256 Credential=x'],
        ['x-amz-date', '20260101T000000Z'],
      ]
    }
    const guard = createBedrockGuardrailsGuard(config, { ...target, sign }, response)
    assert.deepEqual(await guard.check(['hello', '', 'bye'], 'request', context), { kind: 'pass' })
    assert.equal(`${seen[0]!.method} ${seen[0]!.url}`, 'POST /guardrail/gr-1/version/DRAFT/apply')
    assert.equal(seen[0]!.headers.host, 'bedrock-runtime.eu-west-1.amazonaws.com')
    assert.equal(seen[0]!.headers.authorization, 'AWS4-HMAC-SHA256 Credential=x')
    assert.deepEqual(JSON.parse(seen[0]!.body), {
      source: 'INPUT',
      content: [{ text: { text: 'hello' } }, { text: { text: 'bye' } }],
    })
    assert.equal(signed[0]!.target, '/guardrail/gr-1/version/DRAFT/apply')
    assert.equal(signed[0]!.body.toString(), seen[0]!.body)
  })

  it('says that answers are output, and encodes the ARN', async (t) => {
    const { target, seen } = await useGuardTarget(t, () => ({ action: 'NONE' }))
    const identifier = 'arn:aws:bedrock:us-east-1:123456789012:guardrail/abc'
    const guard = createBedrockGuardrailsGuard({ identifier, version: '1' }, target, response)
    await guard.check(['hi'], 'response', guardContext(['assistant']))
    assert.equal(
      seen[0]!.url,
      '/guardrail/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aguardrail%2Fabc/version/1/apply',
    )
    assert.equal((JSON.parse(seen[0]!.body) as { source: string }).source, 'OUTPUT')
  })

  it('masks what was only anonymized, in place', async (t) => {
    const answer = { action: 'GUARDRAIL_INTERVENED', outputs, assessments: [anonymized, detected] }
    const { target } = await useGuardTarget(t, () => answer)
    const guard = createBedrockGuardrailsGuard(config, target, response)
    assert.deepEqual(await guard.check(['hello Bob', ' ', 'bye'], 'request', context), {
      kind: 'mask',
      texts: ['hello {NAME}', ' ', 'bye'],
      found: ['sensitiveInformationPolicy'],
    })
  })

  it('asks nobody about texts that are blank', async (t) => {
    const { target, seen } = await useGuardTarget(t, () => ({ action: 'GUARDRAIL_INTERVENED' }))
    const guard = createBedrockGuardrailsGuard(config, target, response)
    assert.deepEqual(await guard.check(['', ' \n'], 'request', context), { kind: 'pass' })
    assert.equal(seen.length, 0)
  })

  it('names the policies that intervened, and no others', async (t) => {
    const answer = { action: 'GUARDRAIL_INTERVENED', outputs, assessments: [anonymized, { ...blocked, ...detected }] }
    const { target } = await useGuardTarget(t, () => answer)
    const verdict = await createBedrockGuardrailsGuard(config, target, response).check(['a', 'b'], 'request', context)
    assert.deepEqual(verdict, {
      kind: 'reject',
      status: 403,
      body: 'not here',
      found: ['sensitiveInformationPolicy', 'topicPolicy'],
      reason: 'the guardrail intervened',
    })
  })

  const refused: Record<string, object> = {
    'something was blocked': { outputs: [{ text: 'Sorry.' }], assessments: [blocked] },
    'something was blocked beside what was anonymized': { outputs, assessments: [anonymized, blocked] },
    'the outputs are not as many as the texts': { outputs: [{ text: 'hello' }], assessments: [anonymized] },
    'nobody says why': { outputs, assessments: [] },
  }
  for (const [name, answer] of Object.entries(refused)) {
    it(`refuses when ${name}`, async (t) => {
      const { target } = await useGuardTarget(t, () => ({ action: 'GUARDRAIL_INTERVENED', ...answer }))
      const verdict = await createBedrockGuardrailsGuard(config, target, response).check(['a', 'b'], 'request', context)
      assert.equal(verdict.kind === 'reject' && `${verdict.status} ${verdict.body}`, '403 not here')
    })
  }

  for (const answer of [{}, { action: 'SOMETHING' }, { message: 'The security token is invalid' }]) {
    it(`fails closed on ${JSON.stringify(answer)}`, async (t) => {
      const { target } = await useGuardTarget(t, () => answer)
      const chain = chainOf([createBedrockGuardrailsGuard(config, target, response)], 'response')
      const { verdict } = await chain.run(['a'], guardContext(['assistant']))
      assert.equal(verdict.kind === 'reject' && verdict.status, 503)
    })
  }

  it('fails closed without a signature, and keeps the reason to itself', async (t) => {
    const { target, seen } = await useGuardTarget(t, () => ({ action: 'NONE' }))
    const sign = async (): Promise<never> => {
      throw new Error('secret key AKIA is wrong')
    }
    const chain = chainOf([createBedrockGuardrailsGuard(config, { ...target, sign }, response)], 'request')
    const { verdict, notes } = await chain.run(['a'], guardContext(['user']))
    assert.equal(verdict.kind === 'reject' && verdict.status, 503)
    assert.equal(notes[0]!.reason, 'the request could not be signed')
    assert.equal(seen.length, 0)
  })
})
