import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { requiredWhen } from '../../../schema/rules.ts'
import { azureApiVersion, model, short } from '../../../schema/fields/llm-providers.ts'
import { enumeration, string } from '../../../schema/fields/values.ts'

export const azureKey = object(
  {
    resourceName: resourceLabel().describe('Name of the resource; it determines the host.'),
    resourceType: enumeration(['OpenAI', 'Foundry']).describe(
      'Kind of the resource. The host is `<name>.openai.azure.com` for `OpenAI`, and `<name>-resource.services.ai.azure.com` for `Foundry`.',
    ),
    model: model(),
    apiVersion: azureApiVersion(),
    projectName: string(short, {
      pattern: /^[A-Za-z0-9][\w.-]*$/,
      expected: 'a name of letters, digits, `-`, `_` and `.`',
    })
      .optional()
      .describe('Project of a `Foundry` resource.'),
  },
  [requiredWhen('projectName', 'resourceType', 'Foundry')],
)
  .optional()
  .describe('Azure OpenAI or Azure AI Foundry.')

export type AzureConfig = NonNullable<Output<typeof azureKey>>

function resourceLabel() {
  return string(
    { min: 1, max: 63 },
    { pattern: /^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$/, expected: 'a name of 1 to 63 letters, digits and hyphens' },
  )
}
