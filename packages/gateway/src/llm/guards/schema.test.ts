import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { object } from '../../schema/kit.ts'
import { boolean } from '../../schema/fields/values.ts'
import { validate } from '../../schema/validate.ts'
import { promptGuard } from './schema.ts'

const schema = promptGuard(object({ insecure: boolean().optional().describe('For the test.') }))

function accepted(value: unknown) {
  const result = validate(schema, value)
  assert.ok(result.ok, JSON.stringify(result))
  return result.value
}

function problems(value: unknown): string[] {
  const result = validate(schema, value)
  assert.ok(!result.ok)
  return result.problems.map(({ code, path }) => `${code} at ${path.join('.')}`)
}

describe('schema of promptGuard', () => {
  it('fills in the defaults of the spec', () => {
    const { request, response } = accepted({
      request: [
        { regex: { builtins: ['ssn'], matches: ['a+'] } },
        { openAIModeration: {} },
        { googleModelArmor: { templateId: 't', projectId: 'p' } },
      ],
      response: [{ webhook: { backendRef: { name: 'hook' } } }],
    })
    assert.deepEqual(request, [
      {
        regex: { matches: ['a+'], builtins: ['Ssn'], action: 'Mask' },
        response: { message: 'The request was rejected due to inappropriate content.', statusCode: 403 },
      },
      {
        openAIModeration: { model: 'omni-moderation-latest' },
        response: { message: 'The request was rejected due to inappropriate content.', statusCode: 403 },
      },
      {
        googleModelArmor: { templateId: 't', projectId: 'p', location: 'us-central1' },
        response: { message: 'The request was rejected due to inappropriate content.', statusCode: 403 },
      },
    ])
    assert.deepEqual(response, [
      {
        webhook: { backendRef: { name: 'backend/hook' }, forwardHeaderMatches: [], failureMode: 'FailClosed' },
        response: { message: 'The response was rejected due to inappropriate content.', statusCode: 403 },
      },
    ])
  })

  it('takes every field', () => {
    const response = { message: 'no', statusCode: 422 }
    const bedrockGuardrails = { identifier: 'g', version: '1', region: 'us-east-1', policies: { insecure: true } }
    const webhook = {
      backendRef: { name: 'hook' },
      forwardHeaderMatches: [
        { name: 'X-Tenant', value: { exact: 'acme' } },
        { name: 'x-user', value: { regex: 'u-.*' } },
      ],
      failureMode: 'FailOpen',
    }
    const both = [
      { bedrockGuardrails, response },
      { webhook, response },
      { regex: { action: 'Reject', builtins: ['Ssn', 'CreditCard', 'PhoneNumber', 'Email', 'CaSin'] }, response },
    ]
    const value = accepted({ request: both, response: both })
    assert.deepEqual(value.request![0], { bedrockGuardrails, response })
    assert.equal(value.response![1]!.webhook!.forwardHeaderMatches[0]!.name, 'x-tenant')
  })

  it('prompt guard entries: 1-8 each for request and response', () => {
    const guard = { regex: { builtins: ['Ssn'] } }
    const guards = (count: number): unknown[] => Array.from({ length: count }, () => guard)
    accepted({})
    accepted({ request: guards(1), response: guards(8) })
    assert.deepEqual(problems({ request: [], response: guards(9) }), [
      'out_of_range at request',
      'out_of_range at response',
    ])
  })

  const wrong: [unknown, string][] = [
    [{}, 'missing_key at request.0'],
    [{ regex: {}, webhook: { backendRef: { name: 'h' } } }, 'conflict at request.0.webhook'],
    [{ regex: { matches: ['('] } }, 'bad_format at request.0.regex.matches.0'],
    [{ regex: { matches: ['(?=a)'] } }, 'bad_format at request.0.regex.matches.0'],
    [{ regex: { builtins: ['Iban'] } }, 'not_allowed at request.0.regex.builtins.0'],
    [{ regex: { action: 'Delete' } }, 'not_allowed at request.0.regex.action'],
    [{ regex: {}, response: { statusCode: 199 } }, 'out_of_range at request.0.response.statusCode'],
    [{ regex: {}, response: { statusCode: 600 } }, 'out_of_range at request.0.response.statusCode'],
    [{ webhook: {} }, 'missing_key at request.0.webhook.backendRef'],
    [{ bedrockGuardrails: { identifier: 'g', version: '1' } }, 'missing_key at request.0.bedrockGuardrails.region'],
    [
      { bedrockGuardrails: { identifier: 'g', version: '1', region: 'evil.com/' } },
      'bad_format at request.0.bedrockGuardrails.region',
    ],
    [
      { googleModelArmor: { templateId: 't', projectId: 'p', location: 'a.b' } },
      'bad_format at request.0.googleModelArmor.location',
    ],
    [
      {
        webhook: {
          backendRef: { name: 'h' },
          forwardHeaderMatches: [{ name: 'transfer-encoding', value: { exact: 'x' } }],
        },
      },
      'not_allowed at request.0.webhook.forwardHeaderMatches.0.name',
    ],
  ]
  for (const [guard, problem] of wrong) {
    it(`refuses ${JSON.stringify(guard)}`, () => assert.deepEqual(problems({ request: [guard] }), [problem]))
  }

  it('has no moderation for responses', () => {
    assert.deepEqual(problems({ response: [{ regex: {}, openAIModeration: {} }] }), [
      'unknown_key at response.0.openAIModeration',
    ])
  })
})
