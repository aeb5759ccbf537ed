import type OpenAI from 'openai'
import { type Answer, type AnswerPart, argumentPieces, joinPieces } from '../answer.ts'
import { type FakeReply, json, sse } from '../reply.ts'
import { eventFrame } from '../sse.ts'
import { sign } from '../signatures.ts'
import { completionsError, openaiCallId } from './completions-reply.ts'
import type { ParsedResponsesRequest } from './responses-request.ts'

type Response = OpenAI.Responses.Response
type Item = OpenAI.Responses.ResponseReasoningItem | OpenAI.Responses.ResponseOutputMessage | Call
type Call = OpenAI.Responses.ResponseFunctionToolCall
type StreamEvent = OpenAI.Responses.ResponseStreamEvent

/** An event before it has its number. */
type UnnumberedEvent = StreamEvent extends infer E
  ? E extends { sequence_number: number }
    ? Omit<E, 'sequence_number'>
    : never
  : never

export function outputOf(answer: Answer, asked: ParsedResponsesRequest): Item[] {
  return answer.parts.map((part, at) => itemOf(part, at, asked, answer))
}

export function responsesReply(answer: Answer, asked: ParsedResponsesRequest, id: string): FakeReply {
  return json(responseOf(answer, asked, { id, output: outputOf(answer, asked) }))
}

export function responsesStream(answer: Answer, asked: ParsedResponsesRequest, id: string): FakeReply {
  const frames: Buffer[] = []
  const output: Item[] = []
  const say = (event: UnnumberedEvent): void => {
    frames.push(eventFrame(event.type, { ...event, sequence_number: frames.length }))
  }
  const begun: Response = {
    ...responseOf(answer, asked, { id, output: [] }),
    status: 'in_progress',
    incomplete_details: null,
    completed_at: null,
  }
  delete begun.usage

  say({ type: 'response.created', response: begun })
  say({ type: 'response.in_progress', response: begun })
  for (const [at, part] of answer.parts.entries()) {
    const item = itemOf(part, at, asked, answer)
    output.push(item)
    sayItem(say, { part, item, at })
  }
  if (answer.failure !== undefined) {
    const { error } = completionsError(answer.failure, null).body
    const failed: Response = {
      ...begun,
      output,
      status: 'failed',
      error: { code: 'server_error', message: error.message },
    }
    say({ type: 'response.failed', response: failed })
    return sse(frames)
  }
  const response = responseOf(answer, asked, { id, output })
  const type = response.status === 'incomplete' ? 'response.incomplete' : 'response.completed'
  say({ type, response })
  return sse(frames)
}

function sayItem(
  say: (event: UnnumberedEvent) => void,
  { part, item, at }: { part: AnswerPart; item: Item; at: number },
): void {
  const place = { output_index: at, item_id: item.id ?? '' }
  say({ type: 'response.output_item.added', output_index: at, item: emptied(item) })
  switch (part.type) {
    case 'text':
    case 'refusal': {
      const where = { ...place, content_index: 0 }
      const text = joinPieces(part)
      const isText = part.type === 'text'
      const whole = isText ? outputText(text) : ({ type: 'refusal', refusal: text } as const)
      const empty = isText ? outputText('') : ({ type: 'refusal', refusal: '' } as const)
      say({ type: 'response.content_part.added', ...where, part: empty })
      for (const delta of part.pieces) {
        if (isText) say({ type: 'response.output_text.delta', ...where, delta, logprobs: [] })
        else say({ type: 'response.refusal.delta', ...where, delta })
      }
      if (isText) say({ type: 'response.output_text.done', ...where, text, logprobs: [] })
      else say({ type: 'response.refusal.done', ...where, refusal: text })
      say({ type: 'response.content_part.done', ...where, part: whole })
      break
    }
    case 'reasoning': {
      if (item.type !== 'reasoning' || item.summary.length === 0) break
      const where = { ...place, summary_index: 0 }
      const text = joinPieces(part)
      say({ type: 'response.reasoning_summary_part.added', ...where, part: { type: 'summary_text', text: '' } })
      for (const delta of part.pieces) say({ type: 'response.reasoning_summary_text.delta', ...where, delta })
      say({ type: 'response.reasoning_summary_text.done', ...where, text })
      say({ type: 'response.reasoning_summary_part.done', ...where, part: { type: 'summary_text', text } })
      break
    }
    case 'call':
      for (const delta of argumentPieces(part)) say({ type: 'response.function_call_arguments.delta', ...place, delta })
      say({ type: 'response.function_call_arguments.done', ...place, arguments: part.arguments })
      break
  }
  say({ type: 'response.output_item.done', output_index: at, item })
}

function itemOf(part: AnswerPart, at: number, asked: ParsedResponsesRequest, answer: Answer): Item {
  const status = answer.finish === 'length' || answer.finish === 'filtered' ? 'incomplete' : 'completed'
  switch (part.type) {
    case 'text':
    case 'refusal': {
      const text = joinPieces(part)
      const content = part.type === 'text' ? outputText(text) : { type: 'refusal' as const, refusal: text }
      return { id: `msg_fake${at}`, type: 'message', status, role: 'assistant', content: [content] }
    }
    case 'reasoning': {
      const id = `rs_fake${at}`
      const summary = asked.summary ? [{ type: 'summary_text' as const, text: joinPieces(part) }] : []
      return { id, type: 'reasoning', summary, encrypted_content: sign('openai', id) }
    }
    case 'call': {
      const { id, name, arguments: text } = part
      return { id: `fc_${id}`, type: 'function_call', status, call_id: openaiCallId(part), name, arguments: text }
    }
  }
}

function emptied(item: Item): Item {
  switch (item.type) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] }
    case 'reasoning':
      return { ...item, summary: [] }
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' }
  }
}

function outputText(text: string): OpenAI.Responses.ResponseOutputText {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

function responseOf(
  answer: Answer,
  asked: ParsedResponsesRequest,
  { id, output }: { id: string; output: Item[] },
): Response {
  const incomplete = INCOMPLETE[answer.finish]
  const { usage } = answer
  // `output_text` is made by the SDK; it is not on the wire.
  const body: Omit<Response, 'output_text'> = {
    id,
    object: 'response',
    created_at: 1_700_000_000,
    completed_at: 1_700_000_001,
    status: incomplete === undefined ? 'completed' : 'incomplete',
    background: false,
    error: null,
    incomplete_details: incomplete === undefined ? null : { reason: incomplete },
    instructions: null,
    max_output_tokens: asked.settings.maxTokens,
    model: asked.model,
    output,
    parallel_tool_calls: asked.parallelTools ?? true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    service_tier: 'default',
    access_programs: null,
    temperature: asked.settings.temperature ?? 1,
    text: { format: { type: 'text' }, verbosity: 'medium' },
    tool_choice: 'auto',
    tools: [],
    top_p: asked.settings.topP ?? 1,
    truncation: 'disabled',
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: usage.reasoning },
      total_tokens: usage.input + usage.output,
    },
    metadata: {},
  }
  return body as Response
}

const INCOMPLETE: Partial<Record<Answer['finish'], 'max_output_tokens' | 'content_filter'>> = {
  length: 'max_output_tokens',
  filtered: 'content_filter',
}
