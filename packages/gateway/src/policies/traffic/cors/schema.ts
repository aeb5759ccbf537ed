import { definePolicy } from '../../../schema/define-policy.ts'
import { list, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { headerName } from '../../../schema/fields/http-parts.ts'
import { boolean, durationOrSeconds, string } from '../../../schema/fields/values.ts'

const origin = string(
  { min: 1, max: 253 },
  {
    pattern: /^(\*|[hH][tT][tT][pP][sS]?:\/\/([A-Za-z0-9*._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?)$/,
    expected: 'an origin such as `https://app.example.com`, `https://*.example.com` or `*`',
  },
)
const method = string(
  { min: 1, max: 32 },
  { pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, expected: 'a method such as `GET`, or `*`' },
)

export const cors = definePolicy({
  name: 'cors',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  phases: ['PreRouting', 'PostRouting'],
  traceKey: 'cors',
  decides: true,
  schema: object({
    allowOrigins: list(origin.describe('An origin.'), { max: 64 })
      .prefault([])
      .describe(
        'Origins that may read responses. `*` is any origin, and `*` inside a host is a wildcard. An empty list allows none.',
      ),
    allowMethods: list(method.describe('A method, or `*`.'), { max: 16 })
      .prefault([])
      .describe('Methods in responses to preflight requests; `*` returns the requested method.'),
    allowHeaders: list(headerName().describe('A header name, or `*`.'), { max: 64 })
      .prefault([])
      .describe('Request headers in responses to preflight requests; `*` returns the requested headers.'),
    exposeHeaders: list(headerName().describe('A header name, or `*`.'), { max: 64 })
      .prefault([])
      .describe('Response headers that scripts may read.'),
    allowCredentials: boolean().prefault(false).describe('Whether requests may carry cookies and other credentials.'),
    maxAge: durationOrSeconds()
      .optional()
      .describe(
        'How long a browser may cache the response to a preflight request, as a duration or a number of seconds.',
      ),
  }).describe('Allows browsers to read responses from other origins, and responds to preflight requests.'),
})

export type CorsConfig = Output<typeof cors.schema>
