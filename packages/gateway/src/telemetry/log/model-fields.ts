import type { LlmRecord, ProviderAttempt } from '../../records/llm-record.ts'
import { quoted, textValue } from './quote.ts'

/** What a line says of the model call behind a request, in order; null is left out. */
export const modelFields: readonly ModelField[] = [
  ['gen_ai.operation.name', (call) => call.operation],
  ['gen_ai.provider.name', (call) => nameOf(call.provider)],
  ['gen_ai.request.model', (call) => nameOf(call.requestModel)],
  ['gen_ai.response.model', (call) => nameOf(call.responseModel)],
  ['gen_ai.usage.input_tokens', ({ usage }) => usage.input ?? null],
  ['gen_ai.usage.output_tokens', ({ usage }) => usage.output ?? null],
  ['gen_ai.usage.cache_read.input_tokens', ({ usage }) => usage.cacheRead ?? null],
  ['gen_ai.usage.cache_creation.input_tokens', ({ usage }) => usage.cacheWrite ?? null],
  ['gen_ai.usage.reasoning_tokens', ({ usage }) => usage.reasoning ?? null],
  ['gen_ai.usage.input_audio_tokens', ({ usage }) => usage.inputAudio ?? null],
  ['gen_ai.usage.output_audio_tokens', ({ usage }) => usage.outputAudio ?? null],
  ['gen_ai.usage.estimated', (call) => (call.isEstimated ? true : null)],
  ['portico.ai.attempts', ({ attempts }) => attemptsText(attempts)],
  ['portico.ai.time_to_first_token', (call, startedAt) => millis(call.timeToFirstToken(startedAt))],
  ['portico.ai.time_per_output_token', (call) => millis(call.timePerOutputToken)],
]

type ModelField = readonly [
  name: string,
  read: (call: LlmRecord, startedAt: number) => string | number | boolean | null,
]

// Loops, unlike the rest of a line: next to a model call they cost nothing.

export function modelText(call: LlmRecord, startedAt: number): string {
  let text = ''
  for (const [name, read] of modelFields) {
    const value = read(call, startedAt)
    if (value !== null) text += ` ${name}=${textValue(String(value))}`
  }
  return text
}

export function modelJson(call: LlmRecord, startedAt: number): string {
  let text = ''
  for (const [name, read] of modelFields) {
    const value = read(call, startedAt)
    if (value !== null) text += `,"${name}":${typeof value === 'string' ? quoted(value) : value}`
  }
  return text
}

/** Clients choose models in a body of any size; a line must not grow with them. */
function nameOf(text: string): string | null {
  if (text === '') return null
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}

/** With a tenth, because a token may take less than a millisecond. */
function millis(time: number | null): string | null {
  return time === null ? null : `${Math.round(time * 10) / 10}ms`
}

const LONGEST = 256

/** `first:503,second:200`, where more than one was made. */
function attemptsText(attempts: readonly ProviderAttempt[]): string | null {
  if (attempts.length < 2) return null
  return attempts.map(({ providerName, provider, outcome }) => `${providerName || provider}:${outcome}`).join(',')
}
