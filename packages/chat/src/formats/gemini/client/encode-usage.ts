import { withoutAbsent } from '@portico/http/json'
import type { JsonObject, Usage } from '../../../middle.ts'

/** `usageMetadata`. The prompt count includes cached tokens; the candidates count excludes thoughts. */
export function encodeUsage({ input, output, reasoning, cacheRead }: Usage): JsonObject {
  const total = input === undefined && output === undefined ? undefined : (input ?? 0) + (output ?? 0)
  return withoutAbsent({
    promptTokenCount: input,
    candidatesTokenCount: output === undefined ? undefined : Math.max(0, output - (reasoning ?? 0)),
    totalTokenCount: total,
    cachedContentTokenCount: cacheRead,
    thoughtsTokenCount: reasoning,
  })
}
