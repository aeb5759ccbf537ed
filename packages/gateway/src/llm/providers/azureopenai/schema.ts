import { isHost } from '../../../formats/address.ts'
import { object } from '../../../schema/kit.ts'
import type { Output, Schema } from '../../../schema/kit.ts'
import { requiredUnless } from '../../../schema/rules.ts'
import { azureApiVersion, short } from '../../../schema/fields/llm-providers.ts'
import { string, textual } from '../../../schema/fields/values.ts'

export const azureopenaiKey = object(
  {
    endpoint: azureEndpoint().describe('Host of the resource, such as `name.openai.azure.com`; a scheme is removed.'),
    deploymentName: string(short).optional().describe('Deployment to call; the model in the request when unset.'),
    apiVersion: azureApiVersion(),
  },
  [requiredUnless('deploymentName', 'apiVersion', 'v1')],
)
  .optional()
  .describe('Azure OpenAI, configured by the host of the resource; for new configs use `azure`.')

export type AzureopenaiConfig = NonNullable<Output<typeof azureopenaiKey>>

/**
 * An endpoint such as `https://name.openai.azure.com/`, as copied from the portal; its path may contain a Foundry
 * project.
 */
function azureEndpoint(): Schema<{ host: string; project: string | null }> {
  return textual(
    (text) => {
      const found = /^(?:https?:\/\/)?([^/]+)(?:\/api\/projects\/([a-z0-9][\w.-]*))?(?:\/openai(?:\/v1)?)?\/?$/i.exec(
        text,
      )
      const [, name = '', project = null] = found ?? []
      return text.length > 256 || !isHost(name) ? null : { host: name.toLowerCase(), project }
    },
    {
      type: 'host',
      expected: 'the host of an Azure resource, such as `name.openai.azure.com`',
      json: { type: 'string', minLength: 1, maxLength: 256 },
    },
  )
}
