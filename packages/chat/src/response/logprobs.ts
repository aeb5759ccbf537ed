import { isObject, objectsAt, textAt } from '@portico/http/json'
import type { Json, JsonObject } from '../middle.ts'

/** Probabilities of tokens, in the form of Chat Completions. */

/** Converts Gemini's logprobs: the chosen tokens, each with its alternatives. */
export function fromGeminiLogprobs(result: JsonObject): JsonObject[] {
  const tops = objectsAt(result, 'topCandidates')
  return objectsAt(result, 'chosenCandidates').map((chosen, index) => ({
    ...tokenOf(chosen),
    top_logprobs: objectsAt(tops[index] ?? {}, 'candidates').map(tokenOf),
  }))
}

function tokenOf(candidate: JsonObject): JsonObject {
  const token = textAt(candidate, 'token') ?? ''
  const { logProbability } = candidate
  return { token, logprob: typeof logProbability === 'number' ? logProbability : 0, bytes: [...Buffer.from(token)] }
}

/** The `logprobs` of a choice, collected from the `rest` of its parts; null when there are none. */
export function choiceLogprobs(rests: readonly (JsonObject | undefined)[]): Json {
  const content = rests.flatMap((rest) => (Array.isArray(rest?.logprobs) ? rest.logprobs.filter(isObject) : []))
  return content.length === 0 ? null : { content, refusal: null }
}
