import { host } from '../../../schema/fields/hosts.ts'
import { urlPath } from '../../../schema/fields/http-parts.ts'
import { list, object, Refusal, scalar } from '../../../schema/kit.ts'
import type { Json, Output, ParseText, Schema } from '../../../schema/kit.ts'
import { backendName, textFile, unread } from '../../../schema/fields/references.ts'
import { atMostOneOf, exactlyOneOf } from '../../../schema/rules.ts'
import { portUnlessTls } from '../../../schema/fields/tls-port.ts'
import { enumeration, integer, port, string } from '../../../schema/fields/values.ts'

const expected = 'an OpenAPI document'

/** An HTTP API with a description; `policies` gives the block of backend policies. */
export function openapiTarget<Policies>(policies: () => Schema<Policies>) {
  return object(
    {
      host: host().optional().describe('Host of the API.'),
      backendRef: object({
        name: backendName({ fixed: true }).describe('Name of a backend of the top-level `backends`.'),
      })
        .optional()
        .describe('A backend whose host is used in place of `host`.'),
      port: port()
        .optional()
        .describe('Port of the API; 443 when unset beside `policies.tls`, and required otherwise.'),
      basePath: urlPath()
        .optional()
        .describe(
          'Path in front of all others. When unset: that of the server of the document on the same host, or of its first.',
        ),
      schema: object(
        {
          file: textFile(expected, readText).optional().describe('Path of the document, in YAML or JSON.'),
          inline: inlineDocument().optional().describe('The document itself, as a mapping or as text.'),
        },
        [exactlyOneOf('file', 'inline')],
      ).describe('The OpenAPI document, of version 2.0, 3.0 or 3.1.'),
      include: list(operationMatch(), { min: 1, max: 256 })
        .optional()
        .describe('Operations that become tools; all when unset.'),
      exclude: list(operationMatch(), { max: 256 }).prefault([]).describe('Operations of these that do not.'),
      maxTools: integer({ min: 1, max: 10_000 })
        .prefault(5_000)
        .describe('Most operations that may become tools; a config with more is refused.'),
      policies: policies().optional().describe('Policies for this target alone.'),
    },
    [exactlyOneOf('host', 'backendRef'), atMostOneOf('policies', 'backendRef'), portUnlessTls],
  )
}

function operationMatch() {
  const pattern = (text: string) => string({ min: 1, max: 256 }).optional().describe(text)
  return object({
    operationId: pattern('Its `operationId`; `*` stands for any text.'),
    tag: pattern('One of its tags; `*` stands for any text.'),
    path: pattern('Its path as the document has it, as `/pets/{id}`; `*` stands for any text.'),
    methods: list(enumeration(METHODS).describe('A method.'), { min: 1, max: METHODS.length })
      .optional()
      .describe('Its method is one of these.'),
  }).describe('Operations for which all that is said holds.')
}

/** A document as it stands: which of its operations become tools is decided when all of the config is read. */
function inlineDocument(): Schema<Json> {
  return scalar<Json>(
    (input) => {
      // A text is read later, by those who have a parser.
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
  // Parsing it takes a hundred times as long, and as much memory.
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

/** As JSON would have it: YAML knows more, even things that have no end. */
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
