import { isObject, objectsAt, textAt } from '../wire/json.ts'
import type { Json, JsonObject } from './middle.ts'

/** Probabilities of tokens, in the form of Chat Completions. */

/** As Gemini writes them: the tokens that were chosen, and beside them those that might have been. */
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

/** `logprobs` of a choice, of what its parts keep beside their text; null where there is nothing. */
export function choiceLogprobs(rests: readonly (JsonObject | undefined)[]): Json {
  const content = rests.flatMap((rest) => (Array.isArray(rest?.logprobs) ? rest.logprobs.filter(isObject) : []))
  return content.length === 0 ? null : { content, refusal: null }
}
