import { objectAt, objectsAt } from '@portico/http/json'
import type { JsonObject } from '@portico/chat'
import { ask, type GuardTarget, reasonOf } from '../ask.ts'
import type { Guard, Verdict } from '../guard.ts'
import { PASS } from '../guard.ts'
import { type CustomResponseConfig, readableKinds, rejection } from '../rejection.ts'
import type { OpenAIModerationConfig } from './schema.ts'

export const OPENAI_HOST = 'api.openai.com'

export function createOpenAIModerationGuard(
  { model }: Pick<OpenAIModerationConfig, 'model'>,
  target: GuardTarget,
  response: CustomResponseConfig,
): Guard {
  return {
    name: 'openAIModeration',
    async check(texts, _phase, context) {
      const input = texts.filter((text) => text.trim() !== '')
      if (input.length === 0) return PASS
      try {
        return judge(await ask(target, '/v1/moderations', { body: { model, input }, context }), input.length, response)
      } catch (error) {
        return { kind: 'failed', reason: reasonOf(error) }
      }
    },
  }
}

function judge(answer: JsonObject, count: number, response: CustomResponseConfig): Verdict {
  const results = objectsAt(answer, 'results')
  const flagged = results.filter(({ flagged }) => flagged === true)
  if (flagged.length > 0) {
    return rejection(response, { found: readableKinds(flagged.flatMap(flaggedCategories)), reason: 'flagged' })
  }
  const isJudged = results.length === count && results.every(({ flagged }) => flagged === false)
  return isJudged ? PASS : { kind: 'failed', reason: 'the answer does not judge every text' }
}

function flaggedCategories(result: JsonObject): string[] {
  return Object.entries(objectAt(result, 'categories')).flatMap(([name, isFound]) => (isFound === true ? [name] : []))
}
