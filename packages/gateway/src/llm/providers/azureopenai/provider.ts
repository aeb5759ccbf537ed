import { azureProvider } from '../azure/resource.ts'
import type { Provider } from '../provider.ts'
import type { Overrides } from '../../../schema/fields/llm-providers.ts'
import type { AzureopenaiConfig } from './schema.ts'

/** The older form of `azure`: the host instead of the resource's name. */
export function azureopenai(config: AzureopenaiConfig, overrides: Overrides): Provider {
  const { endpoint, apiVersion, deploymentName: model = null } = config
  const isFoundry = endpoint.host.endsWith('.services.ai.azure.com')
  // The bare name of a resource is enough.
  const host = endpoint.host.includes('.') ? endpoint.host : `${endpoint.host}.openai.azure.com`
  return azureProvider('azureopenai', { host, isFoundry, project: endpoint.project, apiVersion, model }, overrides)
}
