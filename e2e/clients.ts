import { anthropicClient } from '../packages/gateway/src/testing/sdk-clients/anthropic.ts'
import type { Endpoint, SdkClient } from '../packages/gateway/src/testing/sdk-clients/client.ts'
import { openaiChatClient } from '../packages/gateway/src/testing/sdk-clients/openai-chat.ts'
import { openaiResponsesClient } from '../packages/gateway/src/testing/sdk-clients/openai-responses.ts'
import { clientTraits, type ClientTraits } from '../packages/gateway/src/testing/sdk-clients/traits.ts'
import {
  aiAnthropicClient,
  aiOpenaiChatClient,
  aiOpenaiResponsesClient,
} from '../packages/gateway/src/testing/sdk-clients/vercel-ai.ts'

export type ClientFormatName = 'completions' | 'messages' | 'responses'

/** A client library, unchanged, with the gateway as its base URL. */
export interface Client {
  name: string
  format: ClientFormatName
  traits: ClientTraits
  connect: (gateway: Endpoint) => SdkClient
}

const underV1 = ({ url, key }: Endpoint): Endpoint => ({ url: `${url}/v1`, key })

export const clients: Client[] = [
  {
    name: '`openai` chat',
    format: 'completions',
    traits: clientTraits.completions,
    connect: (gateway) => openaiChatClient(underV1(gateway)),
  },
  {
    name: '`openai` responses',
    format: 'responses',
    traits: clientTraits.responses,
    connect: (gateway) => openaiResponsesClient(underV1(gateway)),
  },
  {
    name: '`@anthropic-ai/sdk`',
    format: 'messages',
    traits: clientTraits.messages,
    connect: anthropicClient,
  },
  {
    name: '`ai` with `@ai-sdk/openai` chat',
    format: 'completions',
    traits: clientTraits.aiCompletions,
    connect: (gateway) => aiOpenaiChatClient(underV1(gateway)),
  },
  {
    name: '`ai` with `@ai-sdk/openai` responses',
    format: 'responses',
    traits: clientTraits.aiResponses,
    connect: (gateway) => aiOpenaiResponsesClient(underV1(gateway)),
  },
  {
    name: '`ai` with `@ai-sdk/anthropic`',
    format: 'messages',
    traits: clientTraits.aiMessages,
    connect: aiAnthropicClient,
  },
]
