import { list, object } from '../../schema/kit.ts'
import type { Schema } from '../../schema/kit.ts'
import { objectName } from '../../schema/fields/names.ts'
import { exactlyOneOf, uniqueAcross } from '../../schema/rules.ts'
import { aiModels } from './models/schema.ts'
import { llmProvider, providerFields, providerRules } from '../../llm/providers/schema.ts'

/**
 * SPEC 2.10 AIBackend. `policies` gives the block of backend policies, which knows this backend in turn; `modelPolicies`
 * gives the block of one model.
 */
export function aiBackend<Policies>(policies: () => Schema<Policies>, modelPolicies: () => Schema<Policies>) {
  const namedProvider = object(
    {
      name: objectName().describe('Name of the provider in policies, traces and logs.'),
      policies: policies().optional().describe('Policies for this provider only.'),
      ...providerFields,
    },
    providerRules,
  ).describe('A named provider.')
  return object(
    {
      provider: llmProvider.optional().describe('A single provider.'),
      groups: list(
        object({
          providers: list(namedProvider, { min: 1, max: 16, uniqueBy: 'name' }).describe(
            'Providers of equal priority; healthier and faster ones get more requests.',
          ),
        }).describe('A group of providers, used while the providers of the groups before it are unhealthy.'),
        { min: 1, max: 8 },
      )
        .optional()
        .describe('Groups of providers in order of priority. Names must differ across all groups.'),
      models: aiModels(modelPolicies)
        .optional()
        .describe('Models by the name that the client sends, each with its provider; at most 64 in a GwBackend.'),
    },
    [exactlyOneOf('provider', 'groups', 'models'), uniqueAcross('groups', 'providers', 'name')],
  ).describe('Large language models.')
}
