import { isCelError, toJson } from '@portico/cel'
import { enrichPrompt } from '../../../llm/edits/enrich-prompt.ts'
import { markCaching } from '../../../llm/edits/mark-caching.ts'
import { createAliases, editRequest, type ProviderEdits } from '../../../llm/edits/request-edits.ts'
import type { ChatRequest, Json } from '@portico/chat'
import type { Provider } from '../../../llm/providers/provider.ts'
import type { Env } from '../../../pipeline/context/step.ts'
import type { AiConfig } from './schema.ts'

/** The edits that the `ai` policy makes to the chats of one provider. */
export function providerEdits(config: AiConfig | undefined, vendor: Provider, env: Env): ProviderEdits {
  const { defaults, overrides, transformations, modelAliases, prompt, promptCaching } = config ?? {}
  const rules = {
    model: vendor.model,
    fields: { defaults, overrides, transformations },
    aliasOf: createAliases(modelAliases),
  }
  const expressions = new Map(
    (transformations ?? []).map(({ expression }) => [expression, env.cel(expression, 'llmRequest')] as const),
  )
  const shape = (request: ChatRequest): ChatRequest => {
    const enriched = prompt === undefined ? request : enrichPrompt(request, prompt)
    const caches = promptCaching !== undefined && vendor.cachesPrompts(request.model)
    return caches ? markCaching(enriched, promptCaching) : enriched
  }
  return {
    shape: prompt === undefined && promptCaching === undefined ? null : shape,
    request: (body, pathModel, rx) =>
      editRequest(body, pathModel, rules, (source): Json | undefined => {
        rx.llmRequest = body
        const result = expressions.get(source)?.evaluate(rx)
        return result === undefined || isCelError(result) ? undefined : toJson(result)
      }),
  }
}
