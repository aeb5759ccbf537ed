import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HeaderBlock } from '@portico/http'
import { parseExactObject } from '@portico/http/json'
import { clientFormats, type JsonObject } from '@portico/chat'
import type { Guard, TextInfo } from './guard.ts'
import { RequestGuards } from './prompt-guards.ts'
import { createRegexGuard } from './regex/guard.ts'

const context = { requestHeaders: new HeaderBlock(), responseHeaders: null }
const response = { message: 'no', statusCode: 403 }
const ssn = (action: 'Mask' | 'Reject'): Guard => createRegexGuard({ matches: [], builtins: ['Ssn'], action }, response)
const reading = clientFormats.messages.requestTexts

const SSN = '123-45-6789'
const body: JsonObject = {
  model: 'm',
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: `user ${SSN}`, cache_control: { type: 'ephemeral' } },
        { type: 'image', source: { type: 'url', url: `https://example.com/${SSN}` } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: `thought ${SSN}`, signature: 'a' },
        { type: 'thinking', thinking: 'other thought', signature: 'b' },
        { type: 'tool_use', id: 'c1', name: 'find', input: { ssn: 123456789 } },
        { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: SSN } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: `found ${SSN}` }] },
  ],
  system: `system ${SSN}`,
}

describe('guarding a request', () => {
  it('examines everything that a model reads, instructions first', async () => {
    const seen: [string, TextInfo][] = []
    const guard: Guard = {
      name: 'seeing',
      check(texts, _phase, { about }) {
        for (const [index, text] of texts.entries()) seen.push([text, about[index]!])
        return { kind: 'pass' }
      },
    }
    const guarded = await new RequestGuards([guard], ['Image']).body({ body, reading }, context)
    assert.equal(guarded.outcome.kind === 'body' && guarded.outcome.body, body)
    assert.deepEqual(guarded.unexamined, [{ kind: 'Image', path: 'messages[0].content[1].source' }])
    const about = (role: TextInfo['role'], form: TextInfo['form'] = 'text'): TextInfo => ({ role, form })
    assert.deepEqual(seen, [
      [`system ${SSN}`, about('system')],
      [`user ${SSN}`, about('user')],
      [`thought ${SSN}`, about('assistant')],
      ['other thought', about('assistant')],
      ['{"ssn":123456789}', about('assistant', 'json')],
      [SSN, about('assistant')],
      [`found ${SSN}`, about('tool')],
    ])
  })

  it('puts masked texts in their places, and leaves the rest alone', () => {
    const guarded = new RequestGuards([ssn('Mask')]).body({ body, reading }, context)
    assert.ok('outcome' in guarded && guarded.outcome.kind === 'body')
    const [first, second, third] = (body.messages as { role: string; content: JsonObject[] }[]).values()
    assert.deepEqual(guarded.outcome.body, {
      model: 'm',
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'user <SSN>', cache_control: { type: 'ephemeral' } }, first!.content[1]],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'thought <SSN>' },
            second!.content[1],
            { type: 'tool_use', id: 'c1', name: 'find', input: { ssn: '<SSN>' } },
            { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: '<SSN>' } },
          ],
        },
        { role: 'user', content: [{ ...third!.content[0], content: 'found <SSN>' }] },
      ],
      system: 'system <SSN>',
    })
  })

  it('keeps numbers that a double cannot hold', () => {
    const long = '{"messages":[{"role":"user","content":"123-45-6789"}],"max_tokens":1,"x":{"id":12345678901234567890}}'
    const guarded = new RequestGuards([ssn('Mask')]).body({ body: parseExactObject(long)!, reading }, context)
    assert.ok('outcome' in guarded && guarded.outcome.kind === 'body')
    assert.equal(JSON.stringify(guarded.outcome.body), long.replace('123-45-6789', '<SSN>'))
  })

  it('refuses when a guard does', async () => {
    const given = { body: { messages: [{ role: 'user', content: SSN }] }, reading }
    const { outcome, notes } = await new RequestGuards([ssn('Reject')]).body(given, context)
    assert.deepEqual(outcome, { kind: 'reject', status: 403, body: 'no', found: ['Ssn'], reason: 'a pattern matched' })
    assert.deepEqual(notes, [
      { index: 0, guard: 'regex', verdict: 'reject', found: ['Ssn'], reason: 'a pattern matched' },
    ])
  })

  it('refuses what no guard can examine where a guard can refuse, and an unknown block with any guard', async () => {
    const image = { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'u' } }] }] }
    const unknown = { messages: [{ role: 'user', content: [{ type: 'hologram', text: 'hi' }] }] }
    const verdicts = []
    for (const guard of [ssn('Mask'), ssn('Reject')]) {
      for (const given of [image, unknown]) {
        const { outcome } = await new RequestGuards([guard]).body({ body: given, reading }, context)
        verdicts.push(outcome.kind === 'reject' ? outcome.body : outcome.kind)
      }
    }
    const refused = 'The request was rejected: prompt guards cannot examine messages[0].content[0]'
    assert.deepEqual(verdicts, ['body', `${refused} (Unknown).`, `${refused}.source (Image).`, `${refused} (Unknown).`])
  })

  it('fails closed when a mask breaks JSON that must be read again', async () => {
    const breaking: Guard = {
      name: 'breaking',
      check: (texts) => ({ kind: 'mask', texts: texts.map(() => '{'), found: [] }),
    }
    const given = { body: { messages: [{ role: 'user', content: 'x', extra: { a: 'b' } }] }, reading }
    const { outcome } = await new RequestGuards([breaking]).body(given, context)
    assert.equal(outcome.kind === 'reject' && outcome.status, 503)
  })
})
