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
    contextExtensions: map(string({ max: 4_096 }).describe('Its value.'), { min: 1, max: 64 })
      .optional()
      .describe('Texts that the authorizer gets with every request, as `context_extensions`.'),
    requestMetadata: map(expression(phase).describe('Its value.'), { min: 1, max: 64 })
      .optional()
      .describe(
        'Values that the authorizer gets as `metadata_context`, by namespace: a mapping is taken as it is, anything else stands under `value`. One whose expression fails is left out. Left out altogether, the claims of a verified token stand under `envoy.filters.http.jwt_authn`, as `jwt_payload`.',
      ),
  }).describe('The authorizer speaks gRPC: `envoy.service.auth.v3.Authorization/Check`.')

const http = (phase: Phase) =>
  object({
    path: expression(phase, text)
      .optional()
      .describe("Path and query that are asked; those of the client's request when unset."),
    redirect: expression(phase, text)
      .optional()
      .describe('Where clients are sent, with status 302, when the authorizer answers 401 or 403.'),
    allowedRequestHeaders: list(headerName().describe('Name of a header.'), { min: 1, max: 64 })
      .optional()
      .describe('Headers of the request that the authorizer gets; only `authorization` when unset.'),
    addRequestHeaders: map(expression(phase, headerLines).describe('Its value.'), { min: 1, max: 64 })
      .optional()
      .describe('Headers that the authorizer gets besides, by name. One whose expression fails is left out.'),
    allowedResponseHeaders: list(editableHeaderName().describe('Name of a header.'), { min: 1, max: 64 })
      .optional()
      .describe(
        "Headers of the authorizer's answer that the backend gets. The client's own of these names are taken off, also where the answer lacks them.",
      ),
    responseMetadata: map(expression('responseHead').describe('Its value.'), { min: 1, max: 64 })
      .optional()
      .describe(
        "Values for later expressions, as `extauthz.<name>`, made of the authorizer's answer in `response`. One whose expression fails is left out.",
      ),
  }).describe('The authorizer speaks HTTP: a 2xx answer lets the request pass.')

/** The settings of an external authorizer, for requests or for calls to one backend. */
export const extAuthFields = (phase: Phase) => ({
  backendRef: serviceReference().describe('The authorizer; its backend policies hold for the calls.'),
  grpc: grpc(phase).optional(),
  http: http(phase).optional(),
  forwardBody: object({
    maxSize: byteSize({ min: 1 })
      .prefault('8192')
      .describe('Bytes of it at most: of a longer body the authorizer gets only the beginning.'),
  })
    .optional()
    .describe('The authorizer gets the body of the request too, which waits for that much of it.'),
  cache: object({
    key: list(expression(phase).describe('A text, a number or a truth value.'), { min: 1, max: 16 }).describe(
      'What a decision depends on: requests that are equal in all of it share one. A request where a part fails is asked about each time.',
    ),
    ttl: duration({ min: '1ms', max: '24h' }).describe('How long a decision holds.'),
    maxEntries: integer({ min: 1, max: 1_000_000 })
      .prefault(10_000)
      .describe('Decisions that each worker keeps; the one that was used longest ago leaves first.'),
  })
    .optional()
    .describe('Keeps decisions for a while, yes and no alike. Each request is asked about when unset.'),
  failureMode: enumeration(['FailClosed', 'FailOpen'])
    .optional()
    .describe(
      'What happens to requests when the authorizer cannot be asked: they are refused with 403 (`FailClosed`, the default), or pass.',
    ),
  timeout: duration({ min: '1ms' })
    .optional()
    .describe('How long the authorizer may take; 2s when unset. After it, it counts as one that cannot be asked.'),
})

export const extAuthRules = [atMostOneOf('grpc', 'http')]

const plainForm = object(extAuthFields('request'), extAuthRules)

export type ExtAuthConfig = Output<typeof plainForm>
