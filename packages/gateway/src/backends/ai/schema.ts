import { list, object } from '../../schema/kit.ts'
import type { Schema } from '../../schema/kit.ts'
import { objectName } from '../../schema/fields/names.ts'
import { exactlyOneOf, uniqueAcross } from '../../schema/rules.ts'
import { llmProvider, type LlmProviderConfig, providerFields, providerRules } from '../../llm/providers/schema.ts'

/** SPEC 2.10 AIBackend. `policies` gives the block of backend policies, which knows this backend in turn. */
export function aiBackend<Policies>(policies: () => Schema<Policies>) {
  const namedProvider = object(
    {
      name: objectName().describe('Name that policies target it by, and that traces and logs show.'),
      policies: policies().optional().describe('Policies for this provider alone.'),
      ...providerFields,
    },
    providerRules,
  ).describe('A provider with a name.')
  return object(
    {
      provider: llmProvider.optional().describe('The only provider.'),
      groups: list(
        object({
          providers: list(namedProvider, { min: 1, max: 16, uniqueBy: 'name' }).describe(
            'Providers of equal rank; the healthier and faster ones get more.',
          ),
        }).describe('Providers that are used while those of the groups before are not healthy.'),
        { min: 1, max: 8 },
      )
        .optional()
        .describe('Groups of providers in order of priority. Names must differ across all groups.'),
    },
    [exactlyOneOf('provider', 'groups'), uniqueAcross('groups', 'providers', 'name')],
  ).describe('Large language models.')
}

export type NamedLlmProviderConfig<Policies> = LlmProviderConfig & { name: string; policies?: Policies | undefined }
export type AiBackendConfig<Policies> = {
  provider?: LlmProviderConfig | undefined
  groups?: { providers: NamedLlmProviderConfig<Policies>[] }[] | undefined
}
