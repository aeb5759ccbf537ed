import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ANTHROPIC_KEY, anthropicVendor } from './anthropic.ts'
import { AZURE_KEY, azureVendor } from './azure.ts'
import { BEDROCK_KEYS, BEDROCK_TOKEN, bedrockVendor } from './bedrock.ts'
import { awsBedrockClient } from '../sdk-clients/aws-bedrock.ts'
import { GEMINI_KEY, geminiVendor } from './gemini.ts'
import { OPENAI_KEY, openaiVendor } from './openai.ts'
import type { Vendor } from './reply.ts'
import { startFakeProvider } from './server.ts'
import { VERTEX_TOKEN, vertexVendor } from './vertexai.ts'

/** A fake that took everything would prove nothing: each refuses what its vendor refuses. */

interface Refusal {
  what: string
  path: string
  headers: Record<string, string>
  body: object
  /** In the message of the vendor. */
  says: RegExp
  status?: number
}

const user = (content: unknown) => [{ role: 'user', content }]
const call = { type: 'function', function: { name: 'f', arguments: '{}' } }
const openai = { path: '/v1/chat/completions', headers: { authorization: `Bearer ${OPENAI_KEY}` } }
const responses = { ...openai, path: '/v1/responses' }
const anthropic = {
  path: '/v1/messages',
  headers: { 'x-api-key': ANTHROPIC_KEY, 'anthropic-version': '2023-06-01' },
}
const gemini = { path: '/v1beta/models/gemini-2.5-flash:generateContent', headers: { 'x-goog-api-key': GEMINI_KEY } }
const gemini3 = { ...gemini, path: '/v1beta/models/gemini-3-pro-preview:generateContent' }
const vertex = '/v1/projects/p/locations/l/publishers'
const bedrock = { path: '/model/anthropic.claude/converse', headers: { authorization: `Bearer ${BEDROCK_TOKEN}` } }
const claude = { model: 'c', max_tokens: 2000 }
const toolUse = { type: 'tool_use', id: 't1', name: 'f', input: {} }
const result = { type: 'tool_result', tool_use_id: 't1', content: 'x' }

const refusals: [string, () => Vendor, Refusal[]][] = [
  [
    'openai',
    openaiVendor,
    [
      { ...openai, headers: {}, what: 'no key', body: {}, says: /Incorrect API key/, status: 401 },
      { ...openai, what: 'unknown fields', body: { model: 'm', messages: user('x'), top_k: 1 }, says: /'top_k'/ },
      {
        ...openai,
        what: 'fields of other vendors in messages',
        body: { model: 'm', messages: [{ role: 'user', content: [{ type: 'text', text: 'x', cache_control: {} }] }] },
        says: /cache_control/,
      },
      {
        ...openai,
        what: 'calls without results',
        body: { model: 'm', messages: [{ role: 'assistant', tool_calls: [{ id: 'c1', ...call }] }, ...user('x')] },
        says: /did not have response messages: c1/,
      },
      {
        ...openai,
        what: 'long ids of calls',
        body: { model: 'm', messages: [{ role: 'assistant', tool_calls: [{ id: 'c'.repeat(65), ...call }] }] },
        says: /tool_calls\[0\]\.id/,
      },
      {
        ...openai,
        what: 'max_tokens for gpt-5',
        body: { model: 'gpt-5', messages: user('x'), max_tokens: 9 },
        says: /max_completion_tokens/,
      },
      {
        ...responses,
        what: 'results without calls',
        body: { model: 'm', input: [{ type: 'function_call_output', call_id: 'c', output: '' }] },
        says: /No tool call found/,
      },
      {
        ...responses,
        what: 'items that it did not store',
        body: { model: 'm', input: [{ type: 'item_reference', id: 'msg_1' }] },
        says: /not found/,
      },
      {
        ...responses,
        what: 'reasoning of others',
        body: { model: 'm', input: [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' }] },
        says: /could not be verified/,
      },
    ],
  ],
  [
    'anthropic',
    anthropicVendor,
    [
      {
        ...anthropic,
        what: 'no version',
        headers: { 'x-api-key': ANTHROPIC_KEY },
        body: {},
        says: /anthropic-version/,
      },
      { ...anthropic, what: 'no limit of tokens', body: { model: 'c', messages: user('x') }, says: /max_tokens/ },
      { ...anthropic, what: 'unknown fields', body: { ...claude, messages: user('x'), n: 1 }, says: /n: Extra inputs/ },
      {
        ...anthropic,
        what: 'sampling in the newest version',
        headers: { ...anthropic.headers, 'anthropic-version': '2026-10-21' },
        body: { ...claude, messages: user('x'), temperature: 1 },
        says: /temperature: Extra inputs/,
      },
      {
        ...anthropic,
        what: 'calls without results',
        body: { ...claude, messages: [...user('x'), { role: 'assistant', content: [toolUse] }, ...user('y')] },
        says: /without `tool_result` blocks/,
      },
      {
        ...anthropic,
        what: 'thinking that it did not sign',
        body: {
          ...claude,
          messages: [
            ...user('x'),
            { role: 'assistant', content: [{ type: 'thinking', thinking: 'a', signature: 'b' }] },
          ],
        },
        says: /Invalid `signature`/,
      },
      {
        ...anthropic,
        what: 'a thinking turn that does not begin with thinking',
        body: {
          ...claude,
          thinking: { type: 'enabled', budget_tokens: 1024 },
          messages: [...user('x'), { role: 'assistant', content: [toolUse] }, ...user([result])],
        },
        says: /must start with a thinking block/,
      },
      {
        ...anthropic,
        what: 'blank texts',
        body: { ...claude, messages: user([{ type: 'text', text: ' ' }]) },
        says: /non-whitespace/,
      },
    ],
  ],
  [
    'gemini',
    geminiVendor,
    [
      {
        ...gemini,
        what: 'unknown fields',
        body: { contents: [{ parts: [{ text: 'x' }] }], n: 1 },
        says: /Unknown name "n"/,
      },
      {
        ...gemini,
        what: 'words of JSON Schema that it does not know',
        body: {
          contents: [{ parts: [{ text: 'x' }] }],
          tools: [
            { functionDeclarations: [{ name: 'f', parameters: { type: 'object', additionalProperties: false } }] },
          ],
        },
        says: /additionalProperties/,
      },
      {
        ...gemini,
        what: 'calls without results',
        body: {
          contents: [
            { role: 'user', parts: [{ text: 'x' }] },
            { role: 'model', parts: [{ functionCall: { name: 'f' } }] },
            { role: 'user', parts: [{ text: 'y' }] },
          ],
        },
        says: /number of function response parts/,
      },
      {
        ...gemini3,
        what: 'calls without their signature, to Gemini 3',
        body: {
          contents: [
            { role: 'user', parts: [{ text: 'x' }] },
            { role: 'model', parts: [{ functionCall: { name: 'f' } }] },
          ],
        },
        says: /thought_signature/,
      },
    ],
  ],
  [
    'vertexai',
    vertexVendor,
    [
      {
        what: 'a model in the body of Claude',
        path: `${vertex}/anthropic/models/claude-sonnet-4-5:rawPredict`,
        headers: { authorization: `Bearer ${VERTEX_TOKEN}` },
        body: { anthropic_version: 'vertex-2023-10-16', ...claude, messages: user('x') },
        says: /model: Extra inputs/,
      },
      {
        what: 'a stream where none was asked for',
        path: `${vertex}/anthropic/models/claude-sonnet-4-5:rawPredict`,
        headers: { authorization: `Bearer ${VERTEX_TOKEN}` },
        body: { anthropic_version: 'vertex-2023-10-16', max_tokens: 9, messages: user('x'), stream: true },
        says: /rawPredict/,
      },
    ],
  ],
  [
    'bedrock',
    bedrockVendor,
    [
      { ...bedrock, what: 'no signature', headers: {}, body: {}, says: /signature/, status: 403 },
      {
        ...bedrock,
        what: 'turns that do not alternate',
        body: { messages: [1, 2].map(() => ({ role: 'user', content: [{ text: 'x' }] })) },
        says: /alternate/,
      },
      {
        ...bedrock,
        what: 'unknown fields',
        body: { messages: [{ role: 'user', content: [{ text: 'x' }] }], n: 1 },
        says: /extraneous key \[n\]/,
      },
      {
        ...bedrock,
        what: 'calls without tools',
        body: {
          messages: [
            { role: 'user', content: [{ text: 'x' }] },
            { role: 'assistant', content: [{ toolUse: { toolUseId: 't', name: 'f', input: {} } }] },
            { role: 'user', content: [{ toolResult: { toolUseId: 't', content: [{ text: 'y' }] } }] },
          ],
        },
        says: /toolConfig field must be defined/,
      },
    ],
  ],
  [
    'azure',
    azureVendor,
    [
      {
        what: 'no version of the API',
        path: '/openai/deployments/d/chat/completions',
        headers: { 'api-key': AZURE_KEY },
        body: { messages: user('x') },
        says: /Resource not found/,
        status: 404,
      },
    ],
  ],
]

for (const [name, vendor, all] of refusals) {
  describe(`${name} refuses`, () => {
    for (const { what, path, headers, body, says, status = 400 } of all) {
      it(what, async (t) => {
        const fake = await startFakeProvider(vendor())
        t.after(() => fake.close())
        const answer = await fetch(`${fake.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
        const text = await answer.text()
        assert.equal(answer.status, status, text)
        assert.match(text.replaceAll('\\"', '"'), says)
      })
    }
  })
}

describe('signatures of AWS', () => {
  const ask = async (url: string, keys: typeof BEDROCK_KEYS) =>
    awsBedrockClient({ url, keys }).ask({ scene: 'text', model: 'anthropic.claude-v1:0', streamed: false })

  it('a right one is taken, and one of another key is not', async (t) => {
    const fake = await startFakeProvider(bedrockVendor())
    t.after(() => fake.close())
    await ask(fake.url, BEDROCK_KEYS)
    await assert.rejects(ask(fake.url, { ...BEDROCK_KEYS, secretAccessKey: 'other' }), { status: 403 })
  })
})
