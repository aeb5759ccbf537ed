import { GoogleGenAI } from '@google/genai'
import { UserRefreshClient } from 'google-auth-library'
import { after, before, describe, it } from 'node:test'
import OpenAI, { AzureOpenAI } from 'openai'
import { anthropicClient } from '../sdk-clients/anthropic.ts'
import { awsBedrockClient } from '../sdk-clients/aws-bedrock.ts'
import { features } from '../sdk-clients/checks.ts'
import type { SdkClient } from '../sdk-clients/client.ts'
import { googleGenaiClient, googleGenaiClientOf } from '../sdk-clients/google-genai.ts'
import { openaiChatClient, openaiChatClientOf } from '../sdk-clients/openai-chat.ts'
import { openaiResponsesClient, openaiResponsesClientOf } from '../sdk-clients/openai-responses.ts'
import { clientTraits, type ClientTraits, upstreamTraits, type UpstreamTraits } from '../sdk-clients/traits.ts'
import {
  aiAnthropicClient,
  aiGoogleClient,
  aiOpenaiChatClient,
  aiOpenaiResponsesClient,
} from '../sdk-clients/vercel-ai.ts'
import { ANTHROPIC_KEY, anthropicVendor } from './anthropic.ts'
import { AZURE_KEY, azureVendor } from './azure.ts'
import { BEDROCK_KEYS, bedrockVendor } from './bedrock.ts'
import { GEMINI_KEY, geminiVendor } from './gemini.ts'
import { OPENAI_KEY, openaiVendor } from './openai.ts'
import type { Vendor } from './reply.ts'
import { type FakeProvider, startFakeProvider } from './server.ts'
import { VERTEX_TOKEN, vertexVendor } from './vertexai.ts'

/** The fakes are honest: the vendors' own libraries, pointed straight at them, pass the checks of the matrix. */

interface Direct {
  vendor: () => Vendor
  model: string
  /** The model for reasoning, when the library treats reasoning models differently. */
  reasoningModel?: string
  connect: (url: string) => SdkClient
  client: ClientTraits
  upstream: UpstreamTraits
  /** Features that the library lacks, each with the reason. */
  without?: Record<string, string>
}

const vertexAuth = new UserRefreshClient()
vertexAuth.setCredentials({ access_token: VERTEX_TOKEN, expiry_date: Number.MAX_SAFE_INTEGER })

const directs: Direct[] = [
  {
    vendor: openaiVendor,
    model: 'gpt-4.1',
    connect: (url) => openaiChatClient({ url: `${url}/v1`, key: OPENAI_KEY }),
    client: clientTraits.completions,
    upstream: upstreamTraits.completions,
  },
  {
    vendor: openaiVendor,
    model: 'gpt-4.1',
    connect: (url) => openaiResponsesClient({ url: `${url}/v1`, key: OPENAI_KEY }),
    client: clientTraits.responses,
    upstream: upstreamTraits.responses,
  },
  {
    vendor: openaiVendor,
    model: 'gpt-4.1',
    reasoningModel: 'gpt-5',
    connect: (url) => aiOpenaiChatClient({ url: `${url}/v1`, key: OPENAI_KEY }),
    client: clientTraits.aiCompletions,
    upstream: upstreamTraits.completions,
  },
  {
    vendor: openaiVendor,
    model: 'gpt-4.1',
    reasoningModel: 'gpt-5',
    connect: (url) => aiOpenaiResponsesClient({ url: `${url}/v1`, key: OPENAI_KEY }),
    client: clientTraits.aiResponses,
    upstream: upstreamTraits.responses,
  },
  {
    vendor: azureVendor,
    model: 'gpt-4.1',
    connect: (url) =>
      openaiChatClientOf(
        'azure openai chat',
        new AzureOpenAI({ endpoint: url, apiKey: AZURE_KEY, apiVersion: '2024-10-21', maxRetries: 0 }),
      ),
    client: clientTraits.completions,
    upstream: upstreamTraits.completions,
  },
  {
    vendor: azureVendor,
    model: 'gpt-4.1',
    connect: (url) =>
      openaiResponsesClientOf(
        'azure openai v1 responses',
        new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: AZURE_KEY, maxRetries: 0 }),
      ),
    client: clientTraits.responses,
    upstream: upstreamTraits.responses,
  },
  {
    vendor: azureVendor,
    model: 'claude-sonnet-4-5',
    connect: (url) => ({
      ...anthropicClient({ url: `${url}/anthropic`, key: AZURE_KEY }),
      name: 'azure foundry claude',
    }),
    client: clientTraits.messages,
    upstream: upstreamTraits.messages,
  },
  {
    vendor: anthropicVendor,
    model: 'claude-sonnet-4-5',
    connect: (url) => anthropicClient({ url, key: ANTHROPIC_KEY }),
    client: clientTraits.messages,
    upstream: upstreamTraits.messages,
  },
  {
    vendor: anthropicVendor,
    model: 'claude-sonnet-4-5',
    connect: (url) => aiAnthropicClient({ url, key: ANTHROPIC_KEY }),
    client: clientTraits.aiMessages,
    upstream: upstreamTraits.messages,
  },
  ...['gemini-2.5-flash', 'gemini-3-pro-preview'].flatMap((model): Direct[] => [
    {
      vendor: geminiVendor,
      model,
      connect: (url) => googleGenaiClient({ url, key: GEMINI_KEY }),
      client: clientTraits.gemini,
      upstream: upstreamTraits.gemini,
    },
    {
      vendor: geminiVendor,
      model,
      connect: (url) => aiGoogleClient({ url, key: GEMINI_KEY }),
      client: clientTraits.aiGemini,
      upstream: upstreamTraits.gemini,
    },
  ]),
  {
    vendor: geminiVendor,
    model: 'gemini-2.5-flash',
    connect: (url) => ({
      ...openaiChatClient({ url: `${url}/v1beta/openai`, key: GEMINI_KEY }),
      name: 'openai chat on the compatible endpoint',
    }),
    client: clientTraits.completions,
    upstream: upstreamTraits.completions,
    without: { errors: 'the library does not read Google errors', 'failure within a stream': 'as errors' },
  },
  {
    vendor: vertexVendor,
    model: 'gemini-2.5-flash',
    connect: (url) =>
      googleGenaiClientOf(
        'google genai on vertex',
        new GoogleGenAI({
          vertexai: true,
          project: 'p1',
          location: 'us-east5',
          httpOptions: { baseUrl: url },
          // Two versions of the auth library are installed, whose private members differ.
          googleAuthOptions: { authClient: vertexAuth as never },
        }),
      ),
    client: clientTraits.gemini,
    upstream: upstreamTraits.gemini,
  },
  {
    vendor: bedrockVendor,
    model: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    connect: (url) => awsBedrockClient({ url, keys: BEDROCK_KEYS }),
    client: clientTraits.converse,
    upstream: upstreamTraits.converse,
  },
]

for (const { vendor, model, reasoningModel, connect, client, upstream, without = {} } of directs) {
  describe(`${connect('http://127.0.0.1').name} straight to ${vendor().name} (${model})`, () => {
    let fake: FakeProvider
    before(async () => {
      fake = await startFakeProvider(vendor())
    })
    after(() => fake.close())

    for (const streamed of [false, true]) {
      for (const feature of features) {
        const skip = without[feature.name] ?? false
        it(`${feature.name}, ${streamed ? 'streamed' : 'whole'}`, { skip }, async () => {
          const sdk = connect(fake.url)
          await feature.check({
            client,
            upstream,
            streamed,
            takesTemperature: true,
            ask: (question) => sdk.ask({ ...question, streamed, model: (question.reasons && reasoningModel) || model }),
          })
        })
      }
    }
  })
}
