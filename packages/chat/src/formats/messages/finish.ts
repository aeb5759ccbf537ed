import type { FinishReason } from '../../middle.ts'

export function decodeFinish(word: string): FinishReason {
  return REASONS.get(word) ?? 'stop'
}

const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['max_tokens', 'length'],
  ['stop_sequence', 'stopSequence'],
  ['tool_use', 'toolCalls'],
  ['refusal', 'filtered'],
  ['pause_turn', 'pause'],
  ['model_context_window_exceeded', 'contextWindow'],
])

export const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  stopSequence: 'stop_sequence',
  toolCalls: 'tool_use',
  filtered: 'refusal',
  pause: 'pause_turn',
  contextWindow: 'model_context_window_exceeded',
}
