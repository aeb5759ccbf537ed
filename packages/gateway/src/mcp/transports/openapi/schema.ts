import type { OpenApiTools } from '../../../formats/openapi/operation.ts'
import { readOpenApi } from '../../../formats/openapi/read-document.ts'
import { host } from '../../../schema/fields/hosts.ts'
import { object, Refusal, scalar } from '../../../schema/kit.ts'
import type { Json, ParseText, Schema } from '../../../schema/kit.ts'
import { backendName, textFile, unread } from '../../../schema/fields/references.ts'
import { atMostOneOf, exactlyOneOf } from '../../../schema/rules.ts'
import { port } from '../../../schema/fields/values.ts'

const expected = 'an OpenAPI document whose operations can be called'

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
      port: port().describe('Port of the API.'),
      schema: object(
        {
          file: textFile(expected, readText).optional().describe('Path of the document, in YAML or JSON.'),
          inline: inlineDocument().optional().describe('The document itself, as a mapping or as text.'),
        },
        [exactlyOneOf('file', 'inline')],
      ).describe('The OpenAPI document, of version 3.0 or 3.1.'),
      policies: policies().optional().describe('Policies for this target alone.'),
    },
    [exactlyOneOf('host', 'backendRef'), atMostOneOf('policies', 'backendRef')],
  )
}

function inlineDocument(): Schema<OpenApiTools> {
  return scalar<OpenApiTools>(
    (input) => {
      // A text is read later, by those who have a parser.
      if (typeof input === 'string') return unread(input)
      return typeof input === 'object' ? readDocument(input as Json) : new Refusal('wrong_type')
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

function readText(text: string, parse: ParseText): OpenApiTools | Refusal {
  if (text.length > LONGEST) return new Refusal('out_of_range', { detail: `more than ${LONGEST} characters` })
  const parsed = parse(text)
  return 'fault' in parsed ? new Refusal('bad_format', { detail: parsed.fault }) : readDocument(parsed.value)
}

function readDocument(value: Json): OpenApiTools | Refusal {
  const read = readOpenApi(value)
  if ('tools' in read) return read.tools
  const { faults } = read
  const more = faults.length > MOST_FAULTS ? `; and ${faults.length - MOST_FAULTS} more` : ''
  return new Refusal('bad_format', { detail: `${faults.slice(0, MOST_FAULTS).join('; ')}${more}` })
}

const LONGEST = 8 * 1024 * 1024
const MOST_FAULTS = 10
