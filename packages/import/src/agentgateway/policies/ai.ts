import { choice, type Convert, dictionary, json, list, mapping, pairs, scalar } from '../values/convert.ts'
import { expression } from '../values/expressions.ts'
import { type PolicyTable, reader } from './effects.ts'
import { promptGuard } from './prompt-guards.ts'
import type { PoliciesOfCalls } from './services.ts'

const message = mapping({ role: scalar, content: scalar })
const prompts: Convert = mapping({ prepend: list(message), append: list(message) })

/** Request types of Portico by request types of agentgateway. */
const ROUTE_TYPES: Readonly<Record<string, string>> = {
  completions: 'Completions',
  messages: 'Messages',
  models: 'Models',
  passthrough: 'Passthrough',
  detect: 'Detect',
  responses: 'Responses',
  anthropicTokenCount: 'MessagesTokenCount',
  embeddings: 'Embeddings',
  realtime: 'Realtime',
  rerank: 'Rerank',
  generateContent: 'GenerateContent',
  geminiCountTokens: 'GeminiTokenCount',
}

export const fieldValues: Convert = pairs('field', 'value', json)
export const fieldExpressions: Convert = pairs('field', 'expression', expression('llmRequest'))

export const promptCaching: Convert = mapping({
  cacheSystem: scalar,
  cacheMessages: scalar,
  cacheTools: scalar,
  minTokens: scalar,
  cacheMessageOffset: scalar,
})

/**
 * Returns the readers for the members of an `ai` policy. `prefix` is the path of the policy's parent in the Portico
 * config.
 */
export function aiTable(prefix: string, policiesOf: PoliciesOfCalls): PolicyTable {
  const at = (name: string): string => `${prefix}ai.${name}`
  return {
    promptGuard: reader(at('promptGuard'), 'protection', promptGuard(policiesOf)),
    prompts: reader(at('prompt'), 'upstream', prompts),
    defaults: reader(at('defaults'), 'upstream', fieldValues),
    overrides: reader(at('overrides'), 'upstream', fieldValues),
    transformations: reader(at('transformations'), 'upstream', fieldExpressions),
    modelAliases: reader(at('modelAliases'), 'upstream', dictionary()),
    promptCaching: reader(at('promptCaching'), 'extra', promptCaching),
    routes: reader(at('routes'), 'upstream', dictionary(choice(ROUTE_TYPES))),
  }
}
