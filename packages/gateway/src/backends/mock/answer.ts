import type { ChatError, ChatEvent, ChatRequest, FinishReason, StartedPart, Tool } from '@portico/chat'
import { exampleOf } from './example.ts'
import type { MockConfig } from '../../llm/providers/mock/schema.ts'
import { lastTextOf, readTokens, tokensOf } from './tokens.ts'

/** An event, and how long after the one before it comes. */
interface TimedEvent {
  afterMs: number
  event: ChatEvent
}

export type MockAnswer =
  | { kind: 'failed'; afterMs: number; error: ChatError; retryAfterMs: number | null }
  /** `isCut` says that the connection breaks after the last event. */
  | { kind: 'answered'; events: TimedEvent[]; isCut: boolean }

interface MockEnv {
  /** Uniform in [0, 1). */
  random: () => number
  newId: (prefix: string) => string
}

/** Part of every response text, so that readers recognize the mock. */
export const MARK = '[mock]'

/** A provider without a model: its response depends only on its config, the request and one random number. */
export function mockProvider(config: MockConfig, { random, newId }: MockEnv): (request: ChatRequest) => MockAnswer {
  const { failures, latency } = config
  return (request) => {
    const drawn = random() * 100
    if (drawn < failures.rateLimited) {
      return { kind: 'failed', afterMs: latency, error: RATE_LIMITED, retryAfterMs: failures.retryAfter ?? null }
    }
    if (drawn < failures.rateLimited + failures.unavailable) {
      return { kind: 'failed', afterMs: latency, error: UNAVAILABLE, retryAfterMs: null }
    }
    const events = eventsOf(config, request, newId)
    const isCut = request.stream && drawn < failures.rateLimited + failures.unavailable + failures.brokenStreams
    return { kind: 'answered', events: isCut ? events.slice(0, Math.ceil(events.length / 2)) : events, isCut }
  }
}

function eventsOf(config: MockConfig, request: ChatRequest, newId: (prefix: string) => string): TimedEvent[] {
  const { model, latency, tokensPerSecond } = config
  const tokenMs = tokensPerSecond === undefined ? 0 : 1000 / tokensPerSecond
  const events: TimedEvent[] = [{ afterMs: latency, event: { type: 'start', id: newId('mock-'), model } }]
  let left = request.sampling.maxTokens ?? Infinity
  let spoken = 0
  let isShort = false
  const say = (index: number, part: StartedPart, text: string): void => {
    const all = tokensOf(text)
    const tokens = all.slice(0, left)
    if (tokens.length < all.length) isShort = true
    events.push({ afterMs: 0, event: { type: 'partStart', index, part } })
    for (const token of tokens) events.push({ afterMs: tokenMs, event: { type: 'partDelta', index, text: token } })
    events.push({ afterMs: 0, event: { type: 'partEnd', index } })
    left -= tokens.length
    spoken += tokens.length
  }

  const thinks = request.reasoning !== null && request.reasoning.effort !== 'none'
  if (thinks) say(0, { type: 'reasoning' }, `${MARK} There is nothing to think about.`)
  const reasoning = spoken
  const first = thinks ? 1 : 0
  const tools = toolsToCall(request)
  // A call that was cut off could not be read.
  for (const [at, tool] of tools.entries()) {
    left = Infinity
    const part: StartedPart = { type: 'toolCall', id: newId('call_'), name: tool.name }
    say(first + at, part, JSON.stringify(exampleOf(tool.schema)))
  }
  if (tools.length === 0) say(first, { type: 'text' }, textFor(config, request))
  const input = readTokens(request)
  const reason: FinishReason = tools.length > 0 ? 'toolCalls' : isShort ? 'length' : 'stop'
  const usage = {
    input,
    output: spoken,
    ...(thinks && { reasoning }),
    providerInput: input,
    providerTotal: input + spoken,
  }
  events.push({ afterMs: 0, event: { type: 'usage', usage } }, { afterMs: 0, event: { type: 'finish', reason } })
  return events
}

/**
 * The tools to call: those that the tool choice requires; otherwise those that the last message names, until their
 * results have come.
 */
function toolsToCall({ tools, toolChoice, messages }: ChatRequest): Tool[] {
  if (toolChoice?.kind === 'none') return []
  if (toolChoice?.kind === 'tool') return tools.filter(({ name }) => name === toolChoice.name)
  const hasResults = messages.at(-1)?.parts.some((part) => part.type === 'toolResult') ?? false
  const said = hasResults ? '' : lastTextOf(messages)
  const named = tools.filter(({ name }) => name !== '' && said.includes(name))
  return named.length === 0 && toolChoice?.kind === 'required' ? tools.slice(0, 1) : named
}

/**
 * The response text. Structured output has no mark, because parsers would fail; the response header identifies the mock
 * too.
 */
function textFor({ text }: MockConfig, { output, messages }: ChatRequest): string {
  if (output.kind === 'schema') return JSON.stringify(exampleOf(output.schema))
  if (output.kind === 'json') return '{"mock":true}'
  if (text !== undefined) return `${MARK} ${text}`
  const said = lastTextOf(messages)
  const heard = said === '' ? '' : ` You said: ${said.slice(0, MAX_HEARD)}`
  return `${MARK} This answer was made by the gateway itself, without a model.${heard}`
}

const MAX_HEARD = 500

const RATE_LIMITED: ChatError = {
  status: 429,
  kind: 'rateLimit',
  message: `${MARK} rate limit reached (simulated by the config)`,
}
const UNAVAILABLE: ChatError = {
  status: 503,
  kind: 'overloaded',
  message: `${MARK} unavailable (simulated by the config)`,
}
