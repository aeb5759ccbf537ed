import type {
  ContentBlock,
  ContentBlockDelta,
  ConverseResponse,
  ConverseStreamOutput,
  StopReason,
  TokenUsage,
} from '@aws-sdk/client-bedrock-runtime'
import { eventMessage, exceptionMessage } from '../../../../../chat/src/testing/event-stream-message.ts'
import { type Answer, type AnswerPart, argumentPieces, type Failure, joinPieces } from '../answer.ts'
import { type FakeReply, json, retryHeaders } from '../reply.ts'
import { sign } from '../signatures.ts'

export function converseReply(answer: Answer): FakeReply {
  const body: ConverseResponse = {
    output: { message: { role: 'assistant', content: answer.parts.map(blockOf) } },
    stopReason: stopReason(answer),
    usage: usageOf(answer),
    metrics: { latencyMs: 12 },
  }
  return json(body, HEADERS)
}

export function converseStream(answer: Answer): FakeReply {
  const frames: Buffer[] = []
  // Frames are padded, as AWS does it, so that their sizes tell nothing.
  const say = (type: keyof ConverseStreamOutput, payload: object): void =>
    void frames.push(eventMessage(type, { ...payload, p: 'abcdefghij' }))
  say('messageStart', { role: 'assistant' })
  for (const [contentBlockIndex, part] of answer.parts.entries()) {
    if (part.type === 'call') {
      const start = { toolUse: { toolUseId: callId(part.id), name: part.name } }
      say('contentBlockStart', { contentBlockIndex, start })
    }
    for (const delta of deltasOf(part)) say('contentBlockDelta', { contentBlockIndex, delta })
    say('contentBlockStop', { contentBlockIndex })
  }
  if (answer.failure !== undefined) {
    frames.push(exceptionMessage(STREAM_EXCEPTION, { message: answer.failure.message }))
  } else {
    say('messageStop', { stopReason: stopReason(answer) })
    say('metadata', { usage: usageOf(answer), metrics: { latencyMs: 12 } })
  }
  return { status: 200, headers: { 'content-type': 'application/vnd.amazon.eventstream', ...HEADERS }, frames }
}

export function bedrockFailure(failure: Failure): FakeReply {
  const [status, type] = ERRORS[failure.kind]
  const headers = {
    ...HEADERS,
    'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/`,
    ...retryHeaders(failure),
  }
  return json({ message: failure.message }, headers, status)
}

function callId(id: string): string {
  return `tooluse_${id}`
}

function blockOf(part: AnswerPart): ContentBlock {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { text: joinPieces(part) }
    case 'reasoning': {
      const text = joinPieces(part)
      return { reasoningContent: { reasoningText: { text, signature: sign('anthropic', text) } } }
    }
    case 'call':
      return { toolUse: { toolUseId: callId(part.id), name: part.name, input: JSON.parse(part.arguments) } }
  }
}

function deltasOf(part: AnswerPart): ContentBlockDelta[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.pieces.map((text) => ({ text }))
    case 'reasoning':
      return [
        ...part.pieces.map((text) => ({ reasoningContent: { text } })),
        { reasoningContent: { signature: sign('anthropic', joinPieces(part)) } },
      ]
    case 'call':
      return argumentPieces(part).map((input) => ({ toolUse: { input } }))
  }
}

function stopReason(answer: Answer): StopReason {
  return answer.parts.some((part) => part.type === 'refusal') ? 'content_filtered' : STOP_REASONS[answer.finish]
}

function usageOf({ usage }: Answer): TokenUsage {
  return {
    inputTokens: usage.input - usage.cacheRead - usage.cacheWrite,
    outputTokens: usage.output,
    totalTokens: usage.input + usage.output,
    cacheReadInputTokens: usage.cacheRead,
    cacheWriteInputTokens: usage.cacheWrite,
  }
}

const STOP_REASONS: Record<Answer['finish'], StopReason> = {
  stop: 'end_turn',
  length: 'max_tokens',
  toolCalls: 'tool_use',
  stopSequence: 'stop_sequence',
  filtered: 'content_filtered',
}

const ERRORS: Record<Failure['kind'], [number, string]> = {
  invalid: [400, 'ValidationException'],
  authentication: [403, 'UnrecognizedClientException'],
  permission: [403, 'AccessDeniedException'],
  notFound: [404, 'ResourceNotFoundException'],
  tooLarge: [413, 'RequestEntityTooLargeException'],
  rateLimit: [429, 'ThrottlingException'],
  server: [500, 'InternalServerException'],
  unavailable: [503, 'ServiceUnavailableException'],
  overloaded: [503, 'ServiceUnavailableException'],
}

const STREAM_EXCEPTION = 'serviceUnavailableException'
const HEADERS = { 'x-amzn-requestid': '00000000-0000-4000-8000-000000000001' }
