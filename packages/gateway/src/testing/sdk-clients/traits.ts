import type { Finish, FailureKind } from '../providers/answer.ts'

/** The differences between the formats and libraries of clients. */
export interface ClientTraits {
  finishWords: Record<Finish, string>
  /** The finish of an answer that is a refusal, where the provider tells refusals from filters. */
  refusalWord: string
  showsRefusal: boolean
  showsReasoning: boolean
  /** Hands signed reasoning back in the next turn. */
  returnsReasoning: boolean
  sendsStop: boolean
  sendsTemperature: boolean
  showsHeaders: boolean
  counts: { cacheWrite: boolean; reasoning: boolean }
}

/** The differences between the formats of providers. */
export interface UpstreamTraits {
  showsReasoning: boolean
  signsReasoning: boolean
  takesStop: boolean
  /** Says whether a stop sequence ended the answer. */
  namesStopSequence: boolean
  hasRefusals: boolean
  counts: { cacheWrite: boolean; reasoning: boolean }
  statuses: Record<FailureKind, number>
}

const common: Omit<ClientTraits, 'finishWords' | 'refusalWord'> = {
  showsRefusal: true,
  showsReasoning: true,
  returnsReasoning: true,
  sendsStop: true,
  sendsTemperature: true,
  showsHeaders: true,
  counts: { cacheWrite: true, reasoning: true },
}

const aiWords = {
  stop: 'stop',
  length: 'length',
  toolCalls: 'tool-calls',
  stopSequence: 'stop',
  filtered: 'content-filter',
}

export const clientTraits = {
  completions: {
    ...common,
    finishWords: {
      stop: 'stop',
      length: 'length',
      toolCalls: 'tool_calls',
      stopSequence: 'stop',
      filtered: 'content_filter',
    },
    refusalWord: 'stop',
  },
  responses: {
    ...common,
    finishWords: {
      stop: 'completed',
      length: 'max_output_tokens',
      toolCalls: 'completed',
      stopSequence: 'completed',
      filtered: 'content_filter',
    },
    refusalWord: 'completed',
    sendsStop: false,
  },
  messages: {
    ...common,
    finishWords: {
      stop: 'end_turn',
      length: 'max_tokens',
      toolCalls: 'tool_use',
      stopSequence: 'stop_sequence',
      filtered: 'refusal',
    },
    refusalWord: 'refusal',
    // The version of the API that the library asks for has none.
    sendsTemperature: false,
  },
  gemini: {
    ...common,
    finishWords: { stop: 'STOP', length: 'MAX_TOKENS', toolCalls: 'STOP', stopSequence: 'STOP', filtered: 'SAFETY' },
    refusalWord: 'SAFETY',
    showsHeaders: false,
    counts: { cacheWrite: false, reasoning: true },
  },
  converse: {
    ...common,
    finishWords: {
      stop: 'end_turn',
      length: 'max_tokens',
      toolCalls: 'tool_use',
      stopSequence: 'stop_sequence',
      filtered: 'content_filtered',
    },
    refusalWord: 'content_filtered',
    counts: { cacheWrite: true, reasoning: false },
  },
  aiCompletions: {
    ...common,
    finishWords: aiWords,
    refusalWord: 'content-filter',
    showsRefusal: false,
    showsReasoning: false,
    returnsReasoning: false,
    counts: { cacheWrite: false, reasoning: true },
  },
  aiResponses: {
    ...common,
    finishWords: aiWords,
    refusalWord: 'content-filter',
    showsRefusal: false,
    sendsStop: false,
    counts: { cacheWrite: false, reasoning: true },
  },
  aiMessages: { ...common, finishWords: aiWords, refusalWord: 'content-filter' },
  aiGemini: {
    ...common,
    finishWords: aiWords,
    refusalWord: 'content-filter',
    counts: { cacheWrite: false, reasoning: true },
  },
} satisfies Record<string, ClientTraits>

const statuses: Record<FailureKind, number> = {
  invalid: 400,
  authentication: 401,
  permission: 403,
  notFound: 404,
  tooLarge: 413,
  rateLimit: 429,
  server: 500,
  unavailable: 503,
  overloaded: 503,
}

export const upstreamTraits = {
  completions: {
    showsReasoning: false,
    signsReasoning: false,
    takesStop: true,
    namesStopSequence: false,
    hasRefusals: true,
    counts: { cacheWrite: true, reasoning: true },
    statuses,
  },
  responses: {
    showsReasoning: true,
    signsReasoning: true,
    takesStop: false,
    namesStopSequence: false,
    hasRefusals: true,
    counts: { cacheWrite: true, reasoning: true },
    statuses,
  },
  messages: {
    showsReasoning: true,
    signsReasoning: true,
    takesStop: true,
    namesStopSequence: true,
    hasRefusals: false,
    counts: { cacheWrite: true, reasoning: true },
    statuses: { ...statuses, overloaded: 529 },
  },
  gemini: {
    showsReasoning: true,
    signsReasoning: true,
    takesStop: true,
    namesStopSequence: false,
    hasRefusals: false,
    counts: { cacheWrite: false, reasoning: true },
    statuses,
  },
  converse: {
    showsReasoning: true,
    signsReasoning: true,
    takesStop: true,
    namesStopSequence: true,
    hasRefusals: false,
    counts: { cacheWrite: true, reasoning: false },
    // AWS answers bad signatures with 403.
    statuses: { ...statuses, authentication: 403 },
  },
} satisfies Record<string, UpstreamTraits>
