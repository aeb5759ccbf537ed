import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HeaderBlock } from '../../net/header-block.ts'
import { chatRequest } from '../../testing/chat-request.ts'
import { chainOf } from './chain.ts'
import type { Guard, TextInfo } from './guard.ts'
import { guardRequest } from './guard-request.ts'
import { createRegexGuard } from './regex/guard.ts'

const context = { requestHeaders: new HeaderBlock(), responseHeaders: null }
const response = { message: 'no', statusCode: 403 }
const ssn = (action: 'Mask' | 'Reject'): Guard => createRegexGuard({ matches: [], builtins: ['Ssn'], action }, response)

const SSN = '123-45-6789'
const request = chatRequest({
  system: [{ type: 'text', text: `system ${SSN}`, cache: { type: 'ephemeral' } }],
  messages: [
    {
      role: 'user',
      parts: [
        { type: 'text', text: `user ${SSN}` },
        { type: 'image', source: { kind: 'url', url: `https://example.com/${SSN}` } },
      ],
    },
    {
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: `thought ${SSN}`, signature: 'anthropic:a' },
        { type: 'reasoning', text: 'other thought', signature: 'anthropic:b' },
        { type: 'toolCall', id: 'c1', name: 'find', arguments: '{"ssn":123456789}' },
        { type: 'refusal', text: `refused ${SSN}` },
        { type: 'native', value: { note: SSN } },
      ],
    },
    {
      role: 'user',
      parts: [{ type: 'toolResult', id: 'c1', parts: [{ type: 'text', text: `found ${SSN}` }], isError: false }],
    },
    { role: 'system', parts: [{ type: 'text', text: 'inner' }] },
  ],
})

describe('guarding a request', () => {
  it('looks at everything that the provider would read', async () => {
    const seen: [string, TextInfo][] = []
    const guard: Guard = {
      name: 'seeing',
      check(texts, _phase, { about }) {
        for (const [index, text] of texts.entries()) seen.push([text, about[index]!])
        return { kind: 'pass' }
      },
    }
    const guarded = await guardRequest(chainOf([guard], 'request'), request, context)
    assert.equal(guarded.request.kind === 'request' && guarded.request.request, request)
    const about = (role: TextInfo['role'], form: TextInfo['form'] = 'text'): TextInfo => ({ role, form })
    assert.deepEqual(seen, [
      [`system ${SSN}`, about('system')],
      [`user ${SSN}`, about('user')],
      [`thought ${SSN}`, about('assistant')],
      ['other thought', about('assistant')],
      ['{"ssn":123456789}', about('assistant', 'json')],
      [`refused ${SSN}`, about('assistant')],
      [`{"note":"${SSN}"}`, about('assistant', 'json')],
      [`found ${SSN}`, about('tool')],
      ['inner', about('system')],
    ])
  })

  it('puts masked texts in their places, and leaves the rest alone', () => {
    const guarded = guardRequest(chainOf([ssn('Mask')], 'request'), request, context)
    assert.ok('request' in guarded && guarded.request.kind === 'request')
    const masked = guarded.request.request
    assert.deepEqual(masked.system, [{ type: 'text', text: 'system <SSN>', cache: { type: 'ephemeral' } }])
    assert.deepEqual(masked.messages, [
      {
        role: 'user',
        parts: [{ type: 'text', text: 'user <SSN>' }, request.messages[0]!.parts[1]],
      },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'thought <SSN>' },
          { type: 'reasoning', text: 'other thought', signature: 'anthropic:b' },
          { type: 'toolCall', id: 'c1', name: 'find', arguments: '{"ssn":"<SSN>"}' },
          { type: 'refusal', text: 'refused <SSN>' },
          { type: 'native', value: { note: '<SSN>' } },
        ],
      },
      {
        role: 'user',
        parts: [{ type: 'toolResult', id: 'c1', parts: [{ type: 'text', text: 'found <SSN>' }], isError: false }],
      },
      request.messages[3],
    ])
    assert.equal(request.system[0]!.text, `system ${SSN}`)
  })

  it('refuses when a guard does', async () => {
    const { request: refused, notes } = await guardRequest(chainOf([ssn('Reject')], 'request'), request, context)
    assert.deepEqual(refused, { kind: 'reject', status: 403, body: 'no', found: ['Ssn'], reason: 'a pattern matched' })
    assert.deepEqual(notes, [
      { index: 0, guard: 'regex', verdict: 'reject', found: ['Ssn'], reason: 'a pattern matched' },
    ])
  })

  it('fails closed when a mask breaks JSON that must be read again', async () => {
    const breaking: Guard = {
      name: 'breaking',
      check: (texts) => ({ kind: 'mask', texts: texts.map(() => '{'), found: [] }),
    }
    const { request: refused } = await guardRequest(chainOf([breaking], 'request'), request, context)
    assert.equal(refused.kind === 'reject' && refused.status, 503)
  })
})
