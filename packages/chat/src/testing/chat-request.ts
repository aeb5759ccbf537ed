import type { ResponseContext } from '../format.ts'
import type { ChatRequest } from '../middle.ts'

/** A request that asks for nothing, with what a test is about. */
export function chatRequest(given: Partial<ChatRequest> = {}): ChatRequest {
  return {
    format: 'completions',
    model: 'model',
    system: [],
    messages: [],
    tools: [],
    toolChoice: null,
    parallelTools: null,
    sampling: {},
    reasoning: null,
    output: { kind: 'text' },
    stream: false,
    user: null,
    rest: {},
    ...given,
  }
}

/** Its ids are `<prefix>1`, `<prefix>2`, ... */
export function responseContext(given: Partial<ResponseContext> = {}): ResponseContext {
  let ids = 0
  return {
    request: chatRequest(),
    model: 'model',
    now: 1_700_000_000,
    newId: (prefix) => `${prefix}${++ids}`,
    toolNames: new Map(),
    ...given,
  }
}
