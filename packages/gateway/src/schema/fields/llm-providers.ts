import { inferencePool } from './inference-pool.ts'
import { localForm, object, type Output, type Schema } from '../kit.ts'
import { host } from './hosts.ts'
import { urlPath } from './http-parts.ts'
import { objectReference } from './references.ts'
import { port, string, textual } from './values.ts'

/** Fields that several LLM providers share. */

export const short = { min: 1, max: 256 }

export const model = () => string(short).optional().describe('Model to call; the model in the request when unset.')

export const azureApiVersion = () =>
  string({ min: 1, max: 64 }, { pattern: /^[\w.-]+$/, expected: 'a version such as `v1` or `2025-04-01-preview`' })
    .prefault('v1')
    .describe('Version of the API: `v1`, `preview` or a date.')

export function region(fallback: string) {
  const pattern = /^[a-z0-9-]{1,63}$/
  const expected = 'a region of 1 to 63 lower-case letters, digits and hyphens'
  return string({ min: 1, max: 63 }, { pattern, expected }).prefault(fallback)
}

/** Fields that override a provider's defaults. */
export const providerOverrides = {
  host: host().optional().describe("Host to call instead of the provider's own."),
  port: port()
    .optional()
    .describe(
      'Port of `host`; when unset, 443, or the usual port of `lmstudio`, `ollama` and `vllm`. Ports other than 443 use plain text unless a `tls` policy applies.',
    ),
  // A controller replaces the name of an InferencePool by the backend of the pool.
  inferencePool: localForm(
    inferencePool
      .optional()
      .describe(
        "Model servers of which an endpoint picker chooses one for each call, instead of the provider's own host; for providers that accept `pathPrefix`. Calls use plain text unless a `tls` policy applies.",
      ),
    objectReference(),
    null,
  ),
  path: apiPath()
    .optional()
    .describe("Path, with an optional query, instead of the provider's own; the client's query is dropped."),
  pathPrefix: urlPath()
    .optional()
    .describe(
      'Replaces `/v1`, or the base path of the vendor, at the start of the path, with or without `host`; not for `azure`, `azureopenai`, `bedrock`, `gemini`, `vertexai` and `mock`.',
    ),
}

const overrides = object(providerOverrides)
export type Overrides = Output<typeof overrides>

/** A path with an optional query, as sent upstream. */
function apiPath(): Schema<string> {
  const pattern = /^\/[\x21\x24-\x5b\x5d\x5f\x61-\x7a\x7e]*(\?[\x21\x24-\x5b\x5d\x5f\x61-\x7a\x7e]*)?$/
  const dotSegment = /\/(\.|%2e){1,2}([/?]|$)/i
  return textual((text) => (text.length <= 1_024 && pattern.test(text) && !dotSegment.test(text) ? text : null), {
    type: 'path',
    expected: 'a path that starts with `/`, of at most 1024 characters, without spaces or dot segments',
    json: { type: 'string', minLength: 1, maxLength: 1_024, pattern: pattern.source },
  })
}
