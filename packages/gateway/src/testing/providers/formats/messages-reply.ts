import type Anthropic from '@anthropic-ai/sdk'
import { type Answer, type AnswerPart, argumentPieces, type Failure, joinPieces } from '../answer.ts'
import type { ParsedRequest } from '../parsed-request.ts'
import { type FakeReply, json, retryHeaders, sse } from '../reply.ts'
import { eventFrame } from '../sse.ts'
import { sign } from '../signatures.ts'

type Event = Anthropic.RawMessageStreamEvent | { type: 'ping' } | { type: 'error'; error: object }
type Block = Anthropic.ContentBlock

export function messagesReply(answer: Answer, asked: ParsedRequest): FakeReply {
  return json(messageOf(answer, asked), HEADERS)
}

export function messagesStream(answer: Answer, asked: ParsedRequest): FakeReply {
  const frames: Buffer[] = []
  const say = (event: Event): void => void frames.push(eventFrame(event.type, event))
  const whole = messageOf(answer, asked)
  say({
    type: 'message_start',
    message: {
      ...whole,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: { ...whole.usage, output_tokens: 1, output_tokens_details: null },
    },
  })
  for (const [index, part] of answer.parts.entries()) {
    say({ type: 'content_block_start', index, content_block: emptyBlock(part) })
    if (index === 0) say({ type: 'ping' })
    for (const delta of deltasOf(part)) say({ type: 'content_block_delta', index, delta })
    say({ type: 'content_block_stop', index })
  }
  if (answer.failure !== undefined) {
    frames.push(eventFrame('error', messagesError(answer.failure).body))
    return sse(frames, HEADERS)
  }
  const { usage, stop_reason, stop_sequence, stop_details } = whole
  say({
    type: 'message_delta',
    delta: { stop_reason, stop_sequence, stop_details, container: null },
    usage: {
      input_tokens: usage.input_tokens,
      cache_creation_input_tokens: usage.cache_creation_input_tokens,
      cache_read_input_tokens: usage.cache_read_input_tokens,
      output_tokens: usage.output_tokens,
      output_tokens_details: usage.output_tokens_details,
      server_tool_use: null,
    },
  })
  say({ type: 'message_stop' })
  return sse(frames, HEADERS)
}

function messagesError(failure: Failure): { status: number; body: object } {
  const [status, type] = ERRORS[failure.kind]
  return { status, body: { type: 'error', error: { type, message: failure.message }, request_id: 'req_fake' } }
}

export function messagesFailure(failure: Failure): FakeReply {
  const { status, body } = messagesError(failure)
  return json(body, { ...HEADERS, ...retryHeaders(failure) }, status)
}

function messageOf(answer: Answer, asked: ParsedRequest): Anthropic.Message {
  const { usage } = answer
  return {
    id: 'msg_fake1',
    type: 'message',
    role: 'assistant',
    model: asked.model,
    content: answer.parts.map(blockOf),
    container: null,
    diagnostics: null,
    stop_reason: isRefusal(answer) ? 'refusal' : STOP_REASONS[answer.finish],
    stop_sequence: answer.stopSequence ?? null,
    stop_details: isRefusal(answer) ? { type: 'refusal', category: 'general_harms', explanation: null } : null,
    usage: {
      input_tokens: usage.input - usage.cacheRead - usage.cacheWrite,
      cache_creation_input_tokens: usage.cacheWrite,
      cache_read_input_tokens: usage.cacheRead,
      cache_creation: { ephemeral_5m_input_tokens: usage.cacheWrite, ephemeral_1h_input_tokens: 0 },
      output_tokens: usage.output,
      output_tokens_details: { thinking_tokens: usage.reasoning },
      server_tool_use: null,
      service_tier: 'standard',
      inference_geo: null,
      speed: null,
    },
  }
}

function isRefusal(answer: Answer): boolean {
  return answer.finish === 'filtered' || answer.parts.some((part) => part.type === 'refusal')
}

function blockOf(part: AnswerPart): Block {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { type: 'text', text: joinPieces(part), citations: null }
    case 'reasoning':
      return { type: 'thinking', thinking: joinPieces(part), signature: sign('anthropic', joinPieces(part)) }
    case 'call': {
      const input: unknown = JSON.parse(part.arguments)
      return { type: 'tool_use', id: `toolu_${part.id}`, name: part.name, input, caller: { type: 'direct' } }
    }
  }
}

function emptyBlock(part: AnswerPart): Block {
  const block = blockOf(part)
  if (block.type === 'text') return { ...block, text: '' }
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' }
  return block.type === 'tool_use' ? { ...block, input: {} } : block
}

function deltasOf(part: AnswerPart): Anthropic.RawContentBlockDelta[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.pieces.map((text) => ({ type: 'text_delta', text }))
    case 'reasoning':
      return [
        ...part.pieces.map((thinking) => ({ type: 'thinking_delta' as const, thinking })),
        { type: 'signature_delta', signature: sign('anthropic', joinPieces(part)) },
      ]
    case 'call':
      // The first one is empty, as the real one sends it.
      return ['', ...argumentPieces(part)].map((json) => ({ type: 'input_json_delta', partial_json: json }))
  }
}

const STOP_REASONS = {
  stop: 'end_turn',
  length: 'max_tokens',
  toolCalls: 'tool_use',
  stopSequence: 'stop_sequence',
  filtered: 'refusal',
} as const

const ERRORS: Record<Failure['kind'], [number, string]> = {
  invalid: [400, 'invalid_request_error'],
  authentication: [401, 'authentication_error'],
  permission: [403, 'permission_error'],
  notFound: [404, 'not_found_error'],
  tooLarge: [413, 'request_too_large'],
  rateLimit: [429, 'rate_limit_error'],
  server: [500, 'api_error'],
  unavailable: [503, 'api_error'],
  overloaded: [529, 'overloaded_error'],
}

const HEADERS = { 'request-id': 'req_fake' }
