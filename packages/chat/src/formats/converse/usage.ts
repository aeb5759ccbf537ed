import { countAt, objectAt, textAt } from '@portico/http/json'
import type { JsonObject, Usage } from '../../middle.ts'

/**
 * The usage of a whole response or of a `metadata` event. Converse's `inputTokens` excludes tokens read from and
 * written to the cache.
 */
export function decodeUsage(body: JsonObject): Usage | null {
  const usage = objectAt(body, 'usage')
  const input = countAt(usage, 'inputTokens')
  const output = countAt(usage, 'outputTokens')
  if (input === undefined && output === undefined) return null
  const cacheRead = countAt(usage, 'cacheReadInputTokens')
  const cacheWrite = countAt(usage, 'cacheWriteInputTokens')
  const total = countAt(usage, 'totalTokens')
  const serviceTier = textAt(objectAt(body, 'serviceTier'), 'type')
  return {
    ...(input !== undefined && { input: input + (cacheRead ?? 0) + (cacheWrite ?? 0), providerInput: input }),
    ...(output !== undefined && { output }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    ...(total !== undefined && { providerTotal: total }),
    ...(serviceTier !== undefined && { serviceTier }),
  }
}
