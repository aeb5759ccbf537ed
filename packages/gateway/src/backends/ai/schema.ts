import { isHost } from '../../formats/address.ts'
import { host } from '../../schema/fields/hosts.ts'
import { urlPath } from '../../schema/fields/http-parts.ts'
import { mockModel } from '../mock/schema.ts'
import { fileOnly, list, object } from '../../schema/kit.ts'
import type { Output, Schema } from '../../schema/kit.ts'
import { objectName } from '../../schema/fields/names.ts'
import {
  atMostOneOf,
  exactlyOneOf,
  onlyWith,
  requiredUnless,
  requiredWhen,
  uniqueAcross,
  type Rule,
} from '../../schema/rules.ts'
import { enumeration, port, string, textual } from '../../schema/fields/values.ts'

const short = { min: 1, max: 256 }
const model = () =>
  string(short).optional().describe("Model to ask for, in place of the request's; the request's when unset.")
const label = () =>
  string(
    { min: 1, max: 63 },
    { pattern: /^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$/, expected: 'a name of 1 to 63 letters, digits and hyphens' },
  )
const apiVersion = () =>
  string({ min: 1, max: 64 }, { pattern: /^[\w.-]+$/, expected: 'a version such as `v1` or `2025-04-01-preview`' })
    .prefault('v1')
    .describe('Version of the API: `v1`, `preview` or a date.')

const azureopenai = object(
  {
    endpoint: azureEndpoint().describe('Host of the resource, such as `name.openai.azure.com`; a scheme is stripped.'),
    deploymentName: string(short).optional().describe('Deployment to ask for; the model of the request when unset.'),
    apiVersion: apiVersion(),
  },
  [requiredUnless('deploymentName', 'apiVersion', 'v1')],
)

const azure = object(
  {
    resourceName: label().describe('Name of the resource, from which the host is made.'),
    resourceType: enumeration(['OpenAI', 'Foundry']).describe(
      'Kind of the resource: `OpenAI` is at `<name>.openai.azure.com`, `Foundry` at `<name>-resource.services.ai.azure.com`.',
    ),
    model: model(),
    apiVersion: apiVersion(),
    projectName: string(short, {
      pattern: /^[A-Za-z0-9][\w.-]*$/,
      expected: 'a name of letters, digits, `-`, `_` and `.`',
    })
      .optional()
      .describe('Project of a `Foundry` resource.'),
  },
  [requiredWhen('projectName', 'resourceType', 'Foundry')],
)

const vertexai = object({
  projectId: string(
    { min: 1, max: 256 },
    { pattern: /^[A-Za-z0-9.:_-]+$/, expected: 'the id of a Google Cloud project' },
  ).describe('Google Cloud project.'),
  region: region('global').describe('Region of the models; `global`, `us` and `eu` are places too.'),
  model: model(),
})

const bedrock = object({
  region: region('us-east-1').describe('Region of the models.'),
  model: model(),
  guardrail: object({
    identifier: string(short).describe('Id or ARN of the guardrail.'),
    version: string(short).describe('Its version.'),
  })
    .optional()
    .describe('Guardrail of Bedrock that the provider itself holds against each chat request.'),
})

/** SPEC 2.10, one key for each provider. */
const providerKeys = {
  openai: object({ model: model() }).optional().describe('OpenAI, and with `host` any server that speaks its formats.'),
  azureopenai: azureopenai.optional().describe('Azure OpenAI by the host of the resource; `azure` is the newer form.'),
  azure: azure.optional().describe('Azure OpenAI or Azure AI Foundry.'),
  anthropic: object({ model: model() }).optional().describe('Anthropic.'),
  gemini: object({ model: model() }).optional().describe('Google Gemini API.'),
  vertexai: vertexai.optional().describe('Google Vertex AI: Claude, Gemini and other models.'),
  bedrock: bedrock.optional().describe('Amazon Bedrock.'),
  mock: fileOnly(mockModel.optional().describe('No model at all: answers by itself and says so.')),
}

const overrides = {
  host: host().optional().describe("Host to call in place of the provider's own."),
  port: port()
    .optional()
    .describe('Port of `host`; 443 when unset. On any other port the connection is plain unless a `tls` policy holds.'),
  path: apiPath()
    .optional()
    .describe("Path, and query if it has one, in place of the provider's own; the client's query is dropped."),
  pathPrefix: urlPath()
    .optional()
    .describe('What stands in place of `/v1` at the start of the path; `openai` and `anthropic` only.'),
}

const providerRules: readonly Rule[] = [
  exactlyOneOf(...Object.keys(providerKeys)),
  onlyWith('port', 'host'),
  atMostOneOf('path', 'pathPrefix'),
  ...['azureopenai', 'azure', 'gemini', 'vertexai', 'bedrock'].map((key) => atMostOneOf('pathPrefix', key)),
]

const llmProvider = object({ ...providerKeys, ...overrides }, providerRules)

/** SPEC 2.10 AIBackend. `policies` gives the block of backend policies, which knows this backend in turn. */
export function aiBackend<Policies>(policies: () => Schema<Policies>) {
  const namedProvider = object(
    {
      name: objectName().describe('Name that policies target it by, and that traces and logs show.'),
      policies: policies().optional().describe('Policies for this provider alone.'),
      ...providerKeys,
      ...overrides,
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

export type LlmProviderConfig = Output<typeof llmProvider>
export type NamedLlmProviderConfig<Policies> = LlmProviderConfig & { name: string; policies?: Policies | undefined }
export type AiBackendConfig<Policies> = {
  provider?: LlmProviderConfig | undefined
  groups?: { providers: NamedLlmProviderConfig<Policies>[] }[] | undefined
}

function region(fallback: string) {
  const pattern = /^[a-z0-9-]{1,63}$/
  const expected = 'a region of 1 to 63 lower-case letters, digits and hyphens'
  return string({ min: 1, max: 63 }, { pattern, expected }).prefault(fallback)
}

/** `https://name.openai.azure.com/` as people copy it from the portal; a Foundry project may stand in its path. */
function azureEndpoint(): Schema<{ host: string; project: string | null }> {
  return textual(
    (text) => {
      const found = /^(?:https?:\/\/)?([^/]+)(?:\/api\/projects\/([a-z0-9][\w.-]*))?(?:\/openai(?:\/v1)?)?\/?$/i.exec(
        text,
      )
      if (found === null || text.length > 256 || !isHost(found[1]!)) return null
      return { host: found[1]!.toLowerCase(), project: found[2] ?? null }
    },
    {
      type: 'host',
      expected: 'the host of an Azure resource, such as `name.openai.azure.com`',
      json: { type: 'string', minLength: 1, maxLength: 256 },
    },
  )
}

/** A path with a query, as it goes out. */
function apiPath(): Schema<string> {
  const pattern = /^\/[\x21\x24-\x5b\x5d\x5f\x61-\x7a\x7e]*(\?[\x21\x24-\x5b\x5d\x5f\x61-\x7a\x7e]*)?$/
  const dotSegment = /\/(\.|%2e){1,2}([/?]|$)/i
  return textual((text) => (text.length <= 1_024 && pattern.test(text) && !dotSegment.test(text) ? text : null), {
    type: 'path',
    expected: 'a path that starts with `/`, of at most 1024 characters, without spaces or dot segments',
    json: { type: 'string', minLength: 1, maxLength: 1_024, pattern: pattern.source },
  })
}
