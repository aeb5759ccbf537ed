import { bool, bytes, list as celList, nullType, number, oneOf, string as text } from '@portico/cel/declare'
import { expression } from '../expression.ts'
import { editableHeaderName, headerName } from '../http-parts.ts'
import { serviceReference } from '../references.ts'
import { byteSize, duration, enumeration, integer, string } from '../values.ts'
import { list, map, object } from '../../kit.ts'
import type { Output } from '../../kit.ts'
import { atMostOneOf } from '../../rules.ts'

/** The phase in which the external authorizer is called, which decides the variables of expressions. */
type Phase = 'request' | 'backend'

const headerLines = oneOf(bool, number, text, bytes, celList, nullType)

const grpc = (phase: Phase) =>
  object({
    contextExtensions: map(string({ max: 4_096 }).describe('The value.'), { min: 1, max: 64 })
      .optional()
      .describe('Strings that the gateway sends with every call, as `context_extensions`.'),
    requestMetadata: map(expression(phase).describe('The value.'), { min: 1, max: 64 })
      .optional()
      .describe(
        'Values that the authorizer gets as `metadata_context`, by namespace: a map is sent unchanged, another value as `value`. A value whose expression fails is omitted. When unset, the claims of a verified token are sent under `envoy.filters.http.jwt_authn`, as `jwt_payload`.',
      ),
    allowedRequestHeaders: list(headerName().describe('Name of a header.'), { min: 1, max: 64 })
      .optional()
      .describe('Headers of the request that the authorizer gets; all of them when unset.'),
  }).describe('The authorizer speaks gRPC: `envoy.service.auth.v3.Authorization/Check`.')

const http = (phase: Phase) =>
  object({
    path: expression(phase, text)
      .optional()
      .describe("Path and query of the call; those of the client's request when unset."),
    redirect: expression(phase, text)
      .optional()
      .describe('URL to redirect clients to, with status 302, when the authorizer responds with 401 or 403.'),
    allowedRequestHeaders: list(headerName().describe('Name of a header.'), { min: 1, max: 64 })
      .optional()
      .describe('Headers of the request that the authorizer gets; only `authorization` when unset.'),
    addRequestHeaders: map(expression(phase, headerLines).describe('The value.'), { min: 1, max: 64 })
      .optional()
      .describe('Additional headers of the call, by name. A header whose expression fails is omitted.'),
    allowedResponseHeaders: list(editableHeaderName().describe('Name of a header.'), { min: 1, max: 64 })
      .optional()
      .describe(
        "Headers of the authorizer's response that are sent to the backend. Headers of these names from the client are always removed.",
      ),
    responseMetadata: map(expression('responseHead').describe('The value.'), { min: 1, max: 64 })
      .optional()
      .describe(
        "Values for later expressions, as `extauthz.<name>`. Their expressions read the authorizer's response as `response`. A value whose expression fails is omitted.",
      ),
  }).describe('The authorizer speaks HTTP: a 2xx response allows the request.')

/** The settings of an external authorizer, for requests or for calls to one backend. */
export const extAuthFields = (phase: Phase) => ({
  backendRef: serviceReference().describe('The authorizer; its backend policies apply to the calls.'),
  grpc: grpc(phase).optional(),
  http: http(phase).optional(),
  forwardBody: object({
    maxSize: byteSize({ min: 1 })
      .prefault('8192')
      .describe('Largest number of bytes that is sent; the authorizer gets only the beginning of a longer body.'),
  })
    .optional()
    .describe(
      'Sends the body of the request to the authorizer too. The call waits until `maxSize` bytes or the whole body have arrived.',
    ),
  cache: object({
    key: list(expression(phase).describe('A string, a number or a boolean.'), { min: 1, max: 16 }).describe(
      'The cache key: requests with equal values share a decision. If one of the expressions fails, the decision is not cached.',
    ),
    ttl: duration({ min: '1ms', max: '24h' }).describe('How long a decision is cached.'),
    maxEntries: integer({ min: 1, max: 1_000_000 })
      .prefault(10_000)
      .describe(
        'Largest number of decisions in the cache of each worker; the least recently used one is removed first.',
      ),
  })
    .optional()
    .describe('Caches decisions, both allowed and denied. When unset, every request causes a call.'),
  failureMode: enumeration(['FailClosed', 'FailOpen'])
    .optional()
    .describe(
      'What happens to a request when the call fails: it is denied with 403 (`FailClosed`, the default), or it passes (`FailOpen`).',
    ),
  timeout: duration({ min: '1ms' })
    .optional()
    .describe('Timeout of the call; 2s when unset. A timeout is a failed call.'),
})

export const extAuthRules = [atMostOneOf('grpc', 'http')]

const plainForm = object(extAuthFields('request'), extAuthRules)

export type ExtAuthConfig = Output<typeof plainForm>
