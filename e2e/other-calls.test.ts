import Anthropic from '@anthropic-ai/sdk'
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import OpenAI from 'openai'
import { tokensOf, vectorOf } from '../packages/gateway/src/testing/providers/formats/embeddings.ts'
import { type Stand, startStand } from './stand.ts'
import { type Target, targets } from './targets.ts'

/** Calls that are no chats: embeddings, lists of models, counts of tokens. */

const targetNamed = (name: string): Target => targets.find((target) => target.name === name)!

function withStand(target: Target, run: (stand: () => Stand) => void): void {
  describe(target.name, () => {
    let stand: Stand
    before(async () => {
      stand = await startStand(target)
    })
    after(() => stand.close())
    run(() => stand)
  })
}

function openaiAt({ endpoint }: Stand): OpenAI {
  return new OpenAI({ baseURL: `${endpoint.url}/v1`, apiKey: endpoint.key, maxRetries: 0 })
}

function anthropicAt({ endpoint }: Stand): Anthropic {
  return new Anthropic({ baseURL: endpoint.url, apiKey: endpoint.key, maxRetries: 0 })
}

describe('embeddings by `openai`', () => {
  const models: [string, string, { dimensions?: number; many: boolean }][] = [
    ['openai', 'text-embedding-3-small', { dimensions: 6, many: true }],
    ['azureopenai', 'text-embedding-3-small', { dimensions: 6, many: true }],
    ['azure OpenAI', 'text-embedding-3-small', { dimensions: 6, many: true }],
    ['gemini 2.5', 'gemini-embedding-001', { dimensions: 6, many: true }],
    ['vertexai Gemini', 'text-embedding-005', { dimensions: 6, many: true }],
    ['bedrock', 'amazon.titan-embed-text-v2:0', { dimensions: 6, many: false }],
    ['bedrock', 'cohere.embed-english-v3', { many: true }],
    ['bedrock', 'amazon.nova-2-multimodal-embeddings-v1:0', { dimensions: 6, many: false }],
  ]
  for (const [name, model, { dimensions, many }] of models) {
    withStand(targetNamed(name), (stand) => {
      for (const encoding_format of ['float', 'base64'] as const) {
        it(`${model} as ${encoding_format}`, async () => {
          const input = many ? ['one text', 'another text here'] : ['one text']
          const known = await stand().gateway.ended()
          const { data, usage } = await openaiAt(stand()).embeddings.create({
            model,
            input,
            encoding_format,
            ...(dimensions !== undefined && { dimensions }),
          })
          const vectors = data.map(({ embedding }) =>
            typeof embedding === 'string' ? floatsOf(embedding) : [...embedding],
          )
          assert.deepEqual(
            vectors,
            input.map((text) => vectorOf(text, dimensions)),
          )
          assert.equal(usage.prompt_tokens, tokensOf(input))
          await stand().gateway.finished(known + 1)
          assert.equal(stand().gateway.records.at(-1)?.llm?.usage.input, tokensOf(input))
        })
      }
    })
  }

  withStand(targetNamed('anthropic'), (stand) => {
    it('a vendor without embeddings is a 400', async () => {
      const asking = openaiAt(stand()).embeddings.create({ model: 'claude-sonnet-4-5', input: 'x' })
      await assert.rejects(asking, { status: 400 })
    })
  })
})

describe('lists of models', () => {
  for (const name of ['openai', 'azureopenai', 'gemini 2.5', 'anthropic']) {
    withStand(targetNamed(name), (stand) => {
      it('by `openai`', async () => {
        const { data } = await openaiAt(stand()).models.list()
        assert.ok(data.length >= 2)
        for (const { id } of data) assert.equal(typeof id, 'string')
      })
    })
  }
  withStand(targetNamed('anthropic'), (stand) => {
    it('by `@anthropic-ai/sdk`', async () => {
      const { data } = await anthropicAt(stand()).models.list()
      assert.ok(data.some(({ id }) => id === 'claude-sonnet-4-5'))
    })
  })
})

describe('counts of tokens by `@anthropic-ai/sdk`', () => {
  for (const target of targets) {
    withStand(target, (stand) => {
      it('counts', async () => {
        const { input_tokens: count } = await anthropicAt(stand()).messages.countTokens({
          model: target.model,
          system: 'You are a gate.',
          messages: [{ role: 'user', content: 'How many tokens are these?' }],
        })
        assert.ok(Number.isInteger(count) && count > 3 && count < 100, String(count))
      })
    })
  }
})

function floatsOf(base64: string): number[] {
  const bytes = Buffer.from(base64, 'base64')
  return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(4 * at))
}
