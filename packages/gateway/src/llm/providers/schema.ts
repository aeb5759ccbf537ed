import { host } from '../../schema/fields/hosts.ts'
import { urlPath } from '../../schema/fields/http-parts.ts'
import { fileOnly, object } from '../../schema/kit.ts'
import type { Output, Schema } from '../../schema/kit.ts'
import { atMostOneOf, exactlyOneOf, onlyWith, type Rule } from '../../schema/rules.ts'
import { port, textual } from '../../schema/fields/values.ts'
import { anthropicKey } from './anthropic/schema.ts'
import { azureKey } from './azure/schema.ts'
import { azureopenaiKey } from './azureopenai/schema.ts'
import { bedrockKey } from './bedrock/schema.ts'
import { geminiKey } from './gemini/schema.ts'
import { mockModel } from './mock/schema.ts'
import { openaiKey } from './openai/schema.ts'
import { vertexaiKey } from './vertexai/schema.ts'

/** SPEC 2.10, one key for each provider. */
const providerKeys = {
  openai: openaiKey,
  azureopenai: azureopenaiKey,
  azure: azureKey,
  anthropic: anthropicKey,
  gemini: geminiKey,
  vertexai: vertexaiKey,
  bedrock: bedrockKey,
  mock: fileOnly(mockModel.optional().describe('No model at all: answers by itself and says so.')),
}

export type ProviderName = keyof typeof providerKeys

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
    .describe(
      'What stands in place of `/v1` at the start of the path, with or without a `host`; `openai` and `anthropic` only.',
    ),
}

export const providerFields = { ...providerKeys, ...overrides }

/** They take another prefix than `/v1`. */
const PREFIXED: ReadonlySet<string> = new Set(['openai', 'anthropic'])

export const providerRules: readonly Rule[] = [
  exactlyOneOf(...Object.keys(providerKeys)),
  onlyWith('port', 'host'),
  atMostOneOf('path', 'pathPrefix'),
  ...Object.keys(providerKeys)
    .filter((key) => !PREFIXED.has(key))
    .map((key) => atMostOneOf('pathPrefix', key)),
]

export const llmProvider = object(providerFields, providerRules)

export type LlmProviderConfig = Output<typeof llmProvider>
/** In place of what the vendor says of itself. */
export type Overrides = Pick<LlmProviderConfig, keyof typeof overrides>

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
