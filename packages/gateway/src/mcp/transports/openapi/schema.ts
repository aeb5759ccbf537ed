import { host } from '../../../schema/fields/hosts.ts'
import { urlPath } from '../../../schema/fields/http-parts.ts'
import { list, object, Refusal, scalar } from '../../../schema/kit.ts'
import type { Json, Output, ParseText, Schema } from '../../../schema/kit.ts'
import { backendName, textFile, unread } from '../../../schema/fields/references.ts'
import { atMostOneOf, exactlyOneOf } from '../../../schema/rules.ts'
import { portUnlessTls } from '../../../schema/fields/tls-port.ts'
import { enumeration, integer, port, string } from '../../../schema/fields/values.ts'

const expected = 'an OpenAPI document'

/** Returns the schema of an OpenAPI target; `policies` returns the schema of its backend policies. */
export function openapiTarget<Policies>(policies: () => Schema<Policies>) {
  return object(
    {
      host: host().optional().describe('Host of the API.'),
      backendRef: object({
        name: backendName({ fixed: true }).describe('Name of a backend of the top-level `backends`.'),
      })
        .optional()
        .describe('A backend to use instead of `host`.'),
      port: port()
        .optional()
        .describe('Port of the API. With `policies.tls` it is 443 when unset; otherwise it is required.'),
      basePath: urlPath()
        .optional()
        .describe(
          'Prefix of all paths. When unset: the path of the `servers` entry with the same host, or else of the first entry.',
        ),
      schema: object(
        {
          file: textFile(expected, readText).optional().describe('Path of the document, in YAML or JSON.'),
          inline: inlineDocument().optional().describe('The document itself, as a map or as a string.'),
        },
        [exactlyOneOf('file', 'inline')],
      ).describe('The OpenAPI document, version 2.0, 3.0 or 3.1.'),
      include: list(operationMatch(), { min: 1, max: 256 })
        .optional()
        .describe('Operations that become tools; all when unset.'),
      exclude: list(operationMatch(), { max: 256 })
        .prefault([])
        .describe('Exceptions from `include`: operations that do not become tools.'),
      maxTools: integer({ min: 1, max: 10_000 })
        .prefault(5_000)
        .describe('Largest number of tools; a config with more is rejected.'),
      policies: policies().optional().describe('Policies for this target only.'),
    },
    [exactlyOneOf('host', 'backendRef'), atMostOneOf('policies', 'backendRef'), portUnlessTls],
  )
}

function operationMatch() {
  const pattern = (text: string) => string({ min: 1, max: 256 }).optional().describe(text)
  return object({
    operationId: pattern('The `operationId`; `*` matches any text.'),
    tag: pattern('A tag of the operation; `*` matches any text.'),
    path: pattern('The path as in the document, such as `/pets/{id}`; `*` matches any text.'),
    methods: list(enumeration(METHODS).describe('A method.'), { min: 1, max: METHODS.length })
      .optional()
      .describe('Methods of the operation.'),
  }).describe('Selects the operations that match all of these fields.')
}

/** The OpenAPI document, unchecked: its operations become tools after the whole config was read. */
function inlineDocument(): Schema<Json> {
  return scalar<Json>(
    (input) => {
      // A string is parsed later, where the YAML parser is loaded.
      if (typeof input === 'string') return unread(input)
      return typeof input === 'object' ? asJson(input) : new Refusal('wrong_type')
    },
    {
      type: 'OpenAPI document',
      expected,
      json: { type: ['object', 'string'], maxLength: LONGEST },
      refers: {
        to: 'contents',
        locate: (input) => (typeof input === 'string' ? { text: input } : null),
        expected,
        pem: null,
        read: readText,
      },
    },
  )
}

function readText(text: string, parse: ParseText): Json | Refusal {
  if (text.length > LONGEST) return new Refusal('out_of_range', { detail: `more than ${LONGEST} characters` })
  const json = parseJson(text)
  if (json !== undefined) return json
  // YAML takes a hundred times as much time and memory to parse as JSON.
  if (text.length > LONGEST_YAML) {
    return new Refusal('out_of_range', { detail: `YAML of more than ${LONGEST_YAML} characters; JSON may be larger` })
  }
  const parsed = parse(text)
  return 'fault' in parsed ? new Refusal('bad_format', { detail: parsed.fault }) : asJson(parsed.value)
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** Whether the value consists of JSON types only: YAML has more types, and cyclic references. */
function asJson(input: unknown): Json | Refusal {
  try {
    return JSON.parse(JSON.stringify(input) ?? 'null') as Json
  } catch {
    return new Refusal('bad_format', { detail: 'a value that holds itself' })
  }
}

export type OpenapiTargetConfig = Output<ReturnType<typeof openapiTarget>>

const METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH'] as const
const LONGEST = 32 * 1024 * 1024
const LONGEST_YAML = 8 * 1024 * 1024
