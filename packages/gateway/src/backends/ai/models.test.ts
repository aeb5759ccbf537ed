import Anthropic from '@anthropic-ai/sdk'
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import OpenAI from 'openai'
import { request } from '../../testing/client.ts'
import { ANTHROPIC_KEY, ANTHROPIC_MODELS, anthropicVendor } from '../../testing/providers/anthropic.ts'
import { AZURE_KEY, azureVendor } from '../../testing/providers/azure.ts'
import { BEDROCK_TOKEN, bedrockVendor } from '../../testing/providers/bedrock.ts'
import { GEMINI_KEY, geminiVendor } from '../../testing/providers/gemini.ts'
import { OPENAI_KEY, OPENAI_MODELS, openaiVendor } from '../../testing/providers/openai.ts'
import type { Vendor } from '../../testing/providers/reply.ts'
import { startFakeProvider } from '../../testing/providers/server.ts'
import { VERTEX_MODELS, VERTEX_TOKEN, vertexVendor } from '../../testing/providers/vertexai.ts'
import { httpConfig, useGateway } from '../../testing/scene.ts'

interface Case {
  provider: Record<string, object>
  vendor: () => Vendor
  key: string
  /** The models that OpenAI and Anthropic clients get. */
  openai: readonly string[]
  anthropic?: readonly string[]
}

/** Every provider of the spec. */
const cases: Record<string, Case> = {
  openai: { provider: { openai: {} }, vendor: openaiVendor, key: OPENAI_KEY, openai: OPENAI_MODELS },
  azureopenai: {
    provider: { azureopenai: { endpoint: 'r1.openai.azure.com' } },
    vendor: azureVendor,
    key: AZURE_KEY,
    openai: OPENAI_MODELS,
  },
  azure: {
    provider: { azure: { resourceName: 'r1', resourceType: 'OpenAI' } },
    vendor: azureVendor,
    key: AZURE_KEY,
    openai: OPENAI_MODELS,
  },
  anthropic: { provider: { anthropic: {} }, vendor: anthropicVendor, key: ANTHROPIC_KEY, openai: ANTHROPIC_MODELS },
  // Gemini through its OpenAI-compatible endpoint; the fake has the same list for all such endpoints.
  gemini: { provider: { gemini: {} }, vendor: geminiVendor, key: GEMINI_KEY, openai: OPENAI_MODELS },
  vertexai: {
    provider: { vertexai: { projectId: 'p1' } },
    vendor: vertexVendor,
    key: VERTEX_TOKEN,
    openai: VERTEX_MODELS.google,
    anthropic: VERTEX_MODELS.anthropic,
  },
  bedrock: { provider: { bedrock: {} }, vendor: bedrockVendor, key: BEDROCK_TOKEN, openai: [] },
}

async function useModels(t: TestContext, { provider, vendor, key }: Case, ai?: object) {
  const fake = await startFakeProvider(vendor())
  t.after(() => fake.close())
  const backend = {
    ai: { provider: { ...provider, host: '127.0.0.1', port: fake.port } },
    policies: { auth: { key }, ...(ai && { ai }) },
  }
  const gateway = await useGateway(t, httpConfig([{ backends: [backend] }]))
  const url = `http://127.0.0.1:${gateway.port()}`
  return {
    fake,
    gateway,
    openai: new OpenAI({ baseURL: `${url}/v1`, apiKey: 'client', maxRetries: 0 }),
    anthropic: new Anthropic({ baseURL: url, apiKey: 'client', maxRetries: 0 }),
  }
}

for (const [name, it] of Object.entries(cases)) {
  describe(`models of ${name}`, () => {
    test('for a client of OpenAI', async (t) => {
      const { openai, gateway } = await useModels(t, it)
      const { object, data } = await openai.models.list()
      assert.equal(object, 'list')
      assert.deepEqual(
        data.map(({ id }) => id),
        it.openai,
      )
      for (const model of data) {
        assert.equal(model.object, 'model')
        assert.equal(typeof model.owned_by, 'string')
      }
      assert.deepEqual(gateway.bugs, [])
    })

    test('for a client of Anthropic', async (t) => {
      const { anthropic } = await useModels(t, it)
      const ids: string[] = []
      for await (const model of anthropic.models.list()) {
        assert.equal(model.type, 'model')
        assert.ok(!Number.isNaN(Date.parse(model.created_at)))
        ids.push(model.id)
      }
      assert.deepEqual(ids, it.anthropic ?? it.openai)
    })

    test('are those of the config where it names some', async (t) => {
      const { openai, anthropic, fake } = await useModels(t, it, { modelAliases: { fast: 'x', 'any-*': 'x' } })
      for (const { data } of [await openai.models.list(), await anthropic.models.list()]) {
        assert.deepEqual(
          data.map(({ id }) => id),
          ['fast'],
        )
      }
      assert.equal(fake.seen.length, 0)
    })
  })
}

test('a provider with one model in the config lists that', async (t) => {
  const { openai } = await useModels(t, {
    ...cases['bedrock']!,
    provider: { bedrock: { model: 'amazon.nova-pro-v1:0' } },
  })
  const { data } = await openai.models.list()
  assert.deepEqual(
    data.map(({ id }) => id),
    ['amazon.nova-pro-v1:0'],
  )
})

test("pages of a client's own vendor are asked for as the client does, others at once", async (t) => {
  const { openai, anthropic, fake } = await useModels(t, cases['anthropic']!)
  await anthropic.models.list({ limit: 1, after_id: 'claude-sonnet-4-5' })
  await openai.models.list()
  const queries = fake.seen.map(({ query }) => query.toString())
  assert.deepEqual(queries, ['limit=1&after_id=claude-sonnet-4-5', 'limit=1000'])
})

test('errors come in the format of the client, and trouble moves the question to the next provider', async (t) => {
  const { openai, anthropic, fake } = await useModels(t, cases['vertexai']!)
  fake.fault = { failure: { kind: 'permission', message: 'not yours' } }
  await assert.rejects(openai.models.list().asResponse(), { status: 403, message: /not yours/ })
  const list = anthropic.models.list()
  await assert.rejects(async () => await list, { status: 403, message: /"type":"error".*not yours/ })

  const down = await startFakeProvider(openaiVendor(), { failure: { kind: 'unavailable', message: 'away' } })
  const up = await startFakeProvider(openaiVendor())
  t.after(() => Promise.all([down.close(), up.close()]))
  const groups = [down, up].map(({ port }, index) => ({
    providers: [{ name: `p${index}`, openai: {}, host: '127.0.0.1', port, policies: { auth: { key: OPENAI_KEY } } }],
  }))
  const gateway = await useGateway(t, httpConfig([{ backends: [{ ai: { groups } }] }]))
  const answer = await request(gateway.port(), { path: '/v1/models' })
  assert.equal(answer.status, 200)
  assert.deepEqual([down.seen.length, up.seen.length], [1, 1])
})

test('an answer that is no list is a 502', async (t) => {
  const odd: Vendor = {
    ...openaiVendor(),
    answer: () => ({ status: 200, headers: {}, frames: [Buffer.from('{"data":7}')] }),
  }
  const { openai } = await useModels(t, { ...cases['openai']!, vendor: () => odd })
  await assert.rejects(openai.models.list().asResponse(), { status: 502 })
})
