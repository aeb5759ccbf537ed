import { azureProvider } from './resource.ts'
import type { Provider } from '../provider.ts'
import type { Overrides } from '../../../schema/fields/llm-providers.ts'
import type { AzureConfig } from './schema.ts'

export function azure(config: AzureConfig, overrides: Overrides): Provider {
  const { resourceName, resourceType, apiVersion, projectName, model = null } = config
  const isFoundry = resourceType === 'Foundry'
  const host = isFoundry
    ? // The portal names resources so, and people know the part before.
      `${resourceName.replace(/-resource$/i, '')}-resource.services.ai.azure.com`
    : `${resourceName}.openai.azure.com`
  const project = isFoundry ? (projectName ?? null) : null
  return azureProvider('azure', { host: host.toLowerCase(), isFoundry, project, apiVersion, model }, overrides)
}
