import { isObject, objectAt, textAt } from '@portico/http/json'
import type { Json, JsonObject } from '@portico/chat'
import { ask, type GuardTarget, reasonOf } from '../ask.ts'
import type { Guard, GuardPhase, Verdict } from '../guard.ts'
import { PASS } from '../guard.ts'
import { type CustomResponseConfig, readableKinds, rejection } from '../rejection.ts'
import type { GoogleModelArmorConfig } from './schema.ts'

export function modelArmorHost({ location }: Pick<GoogleModelArmorConfig, 'location'>): string {
  return `modelarmor.${location}.rep.googleapis.com`
}

export function createGoogleModelArmorGuard(
  config: Omit<GoogleModelArmorConfig, 'policies'>,
  target: GuardTarget,
  response: CustomResponseConfig,
): Guard {
  const [project, location, template] = [config.projectId, config.location, config.templateId].map(encodeURIComponent)
  const path = `/v1/projects/${project}/locations/${location}/templates/${template}`
  return {
    name: 'googleModelArmor',
    async check(texts, phase, context) {
      // Model Armor returns one verdict per text, so all texts are joined for one call.
      const text = texts.filter((part) => part.trim() !== '').join('\n')
      if (text === '') return PASS
      try {
        return judge(await ask(target, path + METHODS[phase], { body: { [DATA[phase]]: { text } }, context }), response)
      } catch (error) {
        return { kind: 'failed', reason: reasonOf(error) }
      }
    },
  }
}

const METHODS: Readonly<Record<GuardPhase, string>> = {
  request: ':sanitizeUserPrompt',
  response: ':sanitizeModelResponse',
}
const DATA: Readonly<Record<GuardPhase, string>> = { request: 'user_prompt_data', response: 'model_response_data' }

function judge(answer: JsonObject, response: CustomResponseConfig): Verdict {
  const result = objectAt(answer, 'sanitizationResult')
  const filters = objectAt(result, 'filterResults')
  const found = readableKinds(Object.entries(filters).flatMap(([name, filter]) => (hasMatch(filter) ? [name] : [])))
  if (found.length > 0 || textAt(result, 'filterMatchState') === 'MATCH_FOUND') {
    return rejection(response, { found, reason: 'a filter matched' })
  }
  const isJudged = textAt(result, 'filterMatchState') === 'NO_MATCH_FOUND'
  if (!isJudged) return { kind: 'failed', reason: 'the answer has no verdict' }
  const invocation = textAt(result, 'invocationResult') ?? 'SUCCESS'
  return invocation === 'SUCCESS' ? PASS : { kind: 'failed', reason: 'not every filter could run' }
}

/** Whether a filter matched. Each filter has its own shape, but all have `matchState` at some depth. */
function hasMatch(value: Json): boolean {
  if (Array.isArray(value)) return value.some(hasMatch)
  if (!isObject(value)) return false
  return value['matchState'] === 'MATCH_FOUND' || Object.values(value).some(hasMatch)
}
