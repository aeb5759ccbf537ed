import Anthropic from '@anthropic-ai/sdk'
import { BedrockRuntimeClient, CountTokensCommand, InvokeModelCommand } from '@aws-sdk/client-bedrock-runtime'
import { GoogleGenAI } from '@google/genai'
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import OpenAI from 'openai'
import { http1 } from '../sdk-clients/aws-bedrock.ts'
import { ANTHROPIC_KEY, ANTHROPIC_MODELS, anthropicVendor } from './anthropic.ts'
import { BEDROCK_KEYS, bedrockVendor } from './bedrock.ts'
import { tokensOf, vectorOf } from './formats/embeddings.ts'
import { GEMINI_KEY, GEMINI_MODELS, geminiVendor } from './gemini.ts'
import { OPENAI_KEY, OPENAI_MODELS, openaiVendor } from './openai.ts'
import type { Vendor } from './reply.ts'
import { startFakeProvider } from './server.ts'

/** Calls that are no chats, made by the vendors' own libraries straight at the fakes. */

async function urlOf(t: TestContext, vendor: Vendor): Promise<string> {
  const fake = await startFakeProvider(vendor)
  t.after(() => fake.close())
  return fake.url
}

test('openai: embeddings and models', async (t) => {
  const sdk = new OpenAI({ baseURL: `${await urlOf(t, openaiVendor())}/v1`, apiKey: OPENAI_KEY, maxRetries: 0 })
  const input = ['one text', 'another']
  const { data, usage } = await sdk.embeddings.create({ model: 'text-embedding-3-small', input })
  assert.deepEqual(
    data.map(({ embedding }) => [...embedding]),
    input.map((text) => vectorOf(text)),
  )
  assert.equal(usage.total_tokens, tokensOf(input))
  const models = await sdk.models.list()
  assert.deepEqual(
    models.data.map(({ id }) => id),
    OPENAI_MODELS,
  )
})

test('openai: responses are stored, and go on by their id', async (t) => {
  const sdk = new OpenAI({ baseURL: `${await urlOf(t, openaiVendor())}/v1`, apiKey: OPENAI_KEY, maxRetries: 0 })
  const first = await sdk.responses.create({ model: 'gpt-4.1', input: 'Please play scene: system', instructions: 'a' })
  assert.equal(first.output_text, 'Told: a')
  const next = { model: 'gpt-4.1', input: 'again', instructions: 'b' }
  const second = await sdk.responses.create({ ...next, previous_response_id: first.id })
  assert.equal(second.output_text, 'Told: b')
  await assert.rejects(sdk.responses.create({ ...next, previous_response_id: 'resp_0' }), { status: 400 })
})

test('anthropic: counts and models', async (t) => {
  const sdk = new Anthropic({ baseURL: await urlOf(t, anthropicVendor()), apiKey: ANTHROPIC_KEY, maxRetries: 0 })
  const messages = [{ role: 'user' as const, content: 'How many?' }]
  const { input_tokens: count } = await sdk.messages.countTokens({ model: 'claude-sonnet-4-5', messages })
  assert.ok(count > 0)
  const { data } = await sdk.models.list()
  assert.deepEqual(
    data.map(({ id }) => id),
    ANTHROPIC_MODELS,
  )
})

test('gemini: counts and models', async (t) => {
  const sdk = new GoogleGenAI({ apiKey: GEMINI_KEY, httpOptions: { baseUrl: await urlOf(t, geminiVendor()) } })
  const { totalTokens } = await sdk.models.countTokens({ model: 'gemini-2.5-flash', contents: 'How many?' })
  assert.ok((totalTokens ?? 0) > 0)
  const names: (string | undefined)[] = []
  for await (const { name } of await sdk.models.list()) names.push(name)
  assert.deepEqual(
    names,
    GEMINI_MODELS.map((name) => `models/${name}`),
  )
})

test('bedrock: counts, and embeddings of each family', async (t) => {
  const endpoint = await urlOf(t, bedrockVendor())
  const sdk = new BedrockRuntimeClient({
    endpoint,
    region: 'us-east-1',
    credentials: BEDROCK_KEYS,
    requestHandler: http1,
  })
  const messages = [{ role: 'user' as const, content: [{ text: 'How many?' }] }]
  const modelId = 'anthropic.claude-sonnet-4-5-20250929-v1:0'
  const counted = await sdk.send(new CountTokensCommand({ modelId, input: { converse: { messages } } }))
  assert.ok((counted.inputTokens ?? 0) > 0)
  const invoke = async (model: string, body: object): Promise<unknown> => {
    const answer = await sdk.send(new InvokeModelCommand({ modelId: model, body: JSON.stringify(body) }))
    return JSON.parse(Buffer.from(answer.body).toString())
  }
  assert.deepEqual(await invoke('amazon.titan-embed-text-v2:0', { inputText: 'one text' }), {
    embedding: vectorOf('one text'),
    inputTextTokenCount: 2,
  })
  const cohere = await invoke('cohere.embed-english-v3', { texts: ['one text'], input_type: 'search_query' })
  assert.deepEqual((cohere as { embeddings: unknown }).embeddings, [vectorOf('one text')])
})
