import type { FinishReason } from '../../middle.ts'

/** The finish reason of a response in this format. */
export function decodeFinish(word: string, hasCalls: boolean): FinishReason {
  const reason = REASONS.get(word) ?? 'stop'
  // A forced tool, and some servers always, end with `stop`.
  return reason === 'stop' && hasCalls ? 'toolCalls' : reason
}

const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'contextWindow'],
  ['tool_calls', 'toolCalls'],
  ['function_call', 'toolCalls'],
  ['content_filter', 'filtered'],
])

const FINISH_WORDS: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  stopSequence: 'stop',
  pause: 'stop',
  length: 'length',
  contextWindow: 'length',
  toolCalls: 'tool_calls',
  filtered: 'content_filter',
}

/** `isLegacy`: for a client that declares functions of old. */
export function finishWord(reason: FinishReason, isLegacy: boolean): string {
  return isLegacy && reason === 'toolCalls' ? 'function_call' : FINISH_WORDS[reason]
}
