import {
  BedrockRuntimeClient,
  type BedrockRuntimeClientConfig,
  BedrockRuntimeServiceException,
  type ContentBlock,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  type Message,
  type TokenUsage,
} from '@aws-sdk/client-bedrock-runtime'
import { type IncomingMessage, request as sendRequest } from 'node:http'
import type { AwsKeys } from '../providers/sigv4.ts'
import { PNG, TOOLS } from '../providers/scenes.ts'
import { type FollowUp, type SdkReply, promptOf, type Question, type SdkClient, SdkFailure } from './client.ts'

export function awsBedrockClient({ url, keys }: { url: string; keys: AwsKeys }): SdkClient {
  const sdk = new BedrockRuntimeClient({
    endpoint: url,
    region: 'us-east-1',
    credentials: keys,
    maxAttempts: 1,
    requestHandler: http1,
  })
  return { name: 'aws bedrock', ask: (question) => ask(sdk, question, [openingOf(question)]) }
}

export interface WireRequest {
  hostname: string
  port?: number
  path: string
  method: string
  headers: Record<string, string>
  body?: Buffer | string
}

/** The library's own way is HTTP/2, which plain loopback servers do not speak. */
export const http1 = {
  async handle({ hostname, port, path, method, headers, body }: WireRequest) {
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = sendRequest({ hostname, port, path, method, headers }, resolve)
      sent.on('error', reject)
      sent.end(body)
    })
    const given = Object.entries(message.headers).map(([name, value]) => [name, String(value)])
    return {
      response: { statusCode: message.statusCode ?? 0, headers: Object.fromEntries(given), body: message },
    }
  },
  updateHttpClientConfig() {},
  httpHandlerConfigs: () => ({}),
} satisfies BedrockRuntimeClientConfig['requestHandler']

interface BedrockReply {
  content: ContentBlock[]
  finish: string
  usage: TokenUsage | undefined
}

async function ask(sdk: BedrockRuntimeClient, question: Question, messages: Message[]): Promise<SdkReply> {
  const input = inputOf(question, messages)
  const { content, finish, usage } = await bedrockFailure(() =>
    question.streamed ? streamed(sdk, input) : buffered(sdk, input),
  )
  const calls = content.flatMap(({ toolUse }) => (toolUse === undefined ? [] : [toolUse]))
  const cacheRead = usage?.cacheReadInputTokens ?? 0
  const cacheWrite = usage?.cacheWriteInputTokens ?? 0
  return {
    text: content.map(({ text }) => text ?? '').join(''),
    refusal: '',
    reasoning: content.map(({ reasoningContent }) => reasoningContent?.reasoningText?.text ?? '').join(''),
    calls: calls.map((call) => ({ id: call.toolUseId ?? '', name: call.name ?? '', arguments: call.input })),
    finish,
    usage: {
      input: (usage?.inputTokens ?? 0) + cacheRead + cacheWrite,
      output: usage?.outputTokens ?? null,
      cacheRead,
      cacheWrite,
      reasoning: null,
    },
    follow: (next) => ask(sdk, question, [...messages, { role: 'assistant', content }, followed(next, calls)]),
  }
}

async function buffered(sdk: BedrockRuntimeClient, input: ConverseCommandInput): Promise<BedrockReply> {
  const { output, stopReason, usage } = await sdk.send(new ConverseCommand(input))
  return { content: output?.message?.content ?? [], finish: stopReason ?? '', usage }
}

/** The library hands on events; putting them together is left to the caller. */
async function streamed(sdk: BedrockRuntimeClient, input: ConverseCommandInput): Promise<BedrockReply> {
  const { stream } = await sdk.send(new ConverseStreamCommand(input))
  const blocks: {
    text: string
    thought: string
    signature: string
    call?: { toolUseId: string; name: string }
    input: string
  }[] = []
  const blockAt = (index = 0) => (blocks[index] ??= { text: '', thought: '', signature: '', input: '' })
  let finish = ''
  let usage: TokenUsage | undefined
  for await (const event of stream ?? []) {
    const started = event.contentBlockStart
    if (started?.start?.toolUse !== undefined) {
      const { toolUseId = '', name = '' } = started.start.toolUse
      blockAt(started.contentBlockIndex).call = { toolUseId, name }
    }
    const delta = event.contentBlockDelta?.delta
    if (delta !== undefined) {
      const block = blockAt(event.contentBlockDelta?.contentBlockIndex)
      block.text += delta.text ?? ''
      block.thought += delta.reasoningContent?.text ?? ''
      block.signature += delta.reasoningContent?.signature ?? ''
      block.input += delta.toolUse?.input ?? ''
    }
    finish = event.messageStop?.stopReason ?? finish
    usage = event.metadata?.usage ?? usage
  }
  const content = blocks.map((block): ContentBlock => {
    if (block.call !== undefined) return { toolUse: { ...block.call, input: JSON.parse(block.input) } }
    if (block.thought === '') return { text: block.text }
    return { reasoningContent: { reasoningText: { text: block.thought, signature: block.signature } } }
  })
  return { content, finish, usage }
}

async function bedrockFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof BedrockRuntimeServiceException)) throw error
    throw new SdkFailure(
      error.message,
      error.$metadata?.httpStatusCode,
      error.$response?.headers['retry-after'] ?? null,
    )
  }
}

function openingOf(question: Question): Message {
  const image: ContentBlock[] =
    question.image === undefined ? [] : [{ image: { format: 'png', source: { bytes: Buffer.from(PNG, 'base64') } } }]
  return { role: 'user', content: [{ text: promptOf(question) }, ...image] }
}

function followed(next: FollowUp, calls: { toolUseId: string | undefined }[]): Message {
  if ('text' in next) return { role: 'user', content: [{ text: next.text }] }
  return {
    role: 'user',
    content: next.results.map((text, at) => ({
      toolResult: { toolUseId: calls[at]?.toolUseId, content: [{ text }] },
    })),
  }
}

function inputOf(question: Question, messages: Message[]): ConverseCommandInput {
  const { system, tools, force, schema } = question
  return {
    modelId: question.model,
    messages,
    ...(system !== undefined && { system: [{ text: system }] }),
    inferenceConfig: {
      maxTokens: question.maxTokens ?? 4096,
      ...(question.temperature !== undefined && { temperature: question.temperature }),
      ...(question.topP !== undefined && { topP: question.topP }),
      ...(question.stop !== undefined && { stopSequences: question.stop }),
    },
    ...(tools !== undefined && {
      toolConfig: {
        tools: tools.map((name) => ({
          toolSpec: { name, description: TOOLS[name].description, inputSchema: { json: TOOLS[name].schema } },
        })),
        ...(force !== undefined && { toolChoice: { tool: { name: force } } }),
      },
    }),
    ...(question.reasons && {
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 1024 } },
    }),
    ...(schema !== undefined && {
      outputConfig: {
        textFormat: {
          type: 'json_schema',
          structure: { jsonSchema: { name: 'person', schema: JSON.stringify(schema) } },
        },
      },
    }),
  }
}
