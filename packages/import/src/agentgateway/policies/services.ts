import type { Field } from '../../core/yaml-field.ts'
import {
  capitalized,
  choice,
  type Convert,
  dictionary,
  list,
  lost,
  mapping,
  type Members,
  membersOf,
  missing,
  scalar,
  type Scope,
} from '../values/convert.ts'
import { conditional, expression, requestExpression } from '../values/expressions.ts'
import { serviceReference } from '../values/targets.ts'

/** Reads the policies for the calls that another policy makes to its service. */
export type PoliciesOfCalls = (policies: Field, scope: Scope) => object | undefined

/** Returns readers of the policies that call another service. `policiesOf` reads the policies for these calls. */
export function servicePolicies(policiesOf: PoliciesOfCalls) {
  const reference = (field: Field, scope: Scope): object | undefined =>
    serviceReference(field, scope, (policies) => policiesOf(policies, scope))
  return { extAuth: extAuth(reference), extProc: extProc(reference), remoteRateLimit: remoteRateLimit(reference) }
}

type Reference = (field: Field, scope: Scope) => object | undefined

const failureMode: Convert = (field, scope) => {
  if (field.isMapping) {
    const status = field.get('denyWithStatus')
    if (status === null) return lost(field, 'expected allow or deny')
    status.changed('the status of denied requests is 403')
    return 'FailClosed'
  }
  return choice({ allow: 'FailOpen', deny: 'FailClosed', failOpen: 'FailOpen', failClosed: 'FailClosed' })(field, scope)
}

const requestBody: Convert = (field, scope) => {
  const found = mapping({ maxRequestBytes: ['maxSize', scalar] })(field, scope)
  const partial = field.get('allowPartialMessage')
  if (partial?.isTrue === true) partial.carried()
  else lost(partial ?? field, 'Portico always sends the beginning of larger bodies, but allowPartialMessage is not set')
  field.get('packAsBytes')?.carried('Portico sends the body unchanged')
  return found
}

function extAuth(reference: Reference): Convert {
  return conditional((field, scope) => {
    const backendRef = reference(field, scope)
    const http = protocolOf(field, scope)
    const { grpc, headers, ...rest } = membersOf(
      field,
      {
        context: ['grpc', (each, inner) => ({ contextExtensions: dictionary()(each, inner) })],
        failureMode,
        includeRequestHeaders: ['headers', list(scalar)],
        includeRequestBody: ['forwardBody', requestBody],
        cache: mapping({ key: list(requestExpression), ttl: scalar, maxEntries: scalar }),
      },
      scope,
    )
    const found = { ...(http as object | undefined), ...(grpc !== undefined && { grpc }) } as Record<string, object>
    const kind = 'http' in found ? 'http' : 'grpc'
    if (headers !== undefined) found[kind] = { ...found[kind], allowedRequestHeaders: headers }
    return { backendRef, ...found, ...rest }
  })
}

const httpMembers: Members = {
  path: requestExpression,
  redirect: requestExpression,
  body: missing('Portico cannot compute the body; forwardBody sends the body of the client'),
  includeResponseHeaders: ['allowedResponseHeaders', list(scalar)],
  addRequestHeaders: dictionary(requestExpression),
  metadata: ['responseMetadata', dictionary(expression('responseHead'))],
}

const protocol: Convert = mapping({
  grpc: mapping({
    context: ['contextExtensions', dictionary()],
    metadata: ['requestMetadata', dictionary(requestExpression)],
  }),
  http: mapping(httpMembers),
})

/**
 * Reads the protocol of an external authorizer. Old agentgateway files have a protocol name, with the HTTP settings
 * beside it.
 */
function protocolOf(field: Field, scope: Scope): unknown {
  const own = field.get('protocol')
  if (own?.text == null) return own === null ? undefined : protocol(own, scope)
  if (own.text !== 'http' && own.text !== 'grpc') return lost(own, 'expected http or grpc')
  own.carried()
  return { [own.text]: own.text === 'http' ? membersOf(field, httpMembers, scope) : {} }
}

const bodyMode = capitalized('none', 'buffered', 'bufferedPartial', 'fullDuplexStreamed')
const sendMode = capitalized('send', 'skip')
const processing = mapping({
  requestHeaderMode: sendMode,
  responseHeaderMode: sendMode,
  requestBodyMode: bodyMode,
  responseBodyMode: bodyMode,
  requestTrailerMode: sendMode,
  responseTrailerMode: sendMode,
  allowModeOverride: scalar,
})

function extProc(reference: Reference): Convert {
  return conditional((field, scope) => {
    const backendRef = reference(field, scope)
    const members = {
      failureMode: capitalized('failClosed', 'failOpen'),
      processingOptions: processing,
      metadataContext: dictionary(dictionary(requestExpression)),
      requestAttributes: dictionary(requestExpression),
      responseAttributes: dictionary(expression('responseHead')),
    }
    return { backendRef, ...membersOf(field, members, scope) }
  })
}

const descriptor: Convert = mapping({
  entries: list(mapping({ key: ['name', scalar], value: ['expression', requestExpression] })),
  type: ['unit', capitalized('requests', 'tokens')],
  cost: expression('log'),
})

function remoteRateLimit(reference: Reference): Convert {
  return (field, scope) => {
    const limit: Convert = (each, inner) => {
      const backendRef = reference(each, inner)
      const members = {
        domain: scalar,
        descriptors: list(descriptor),
        failureMode: capitalized('failClosed', 'failOpen'),
      }
      return { backendRef, ...membersOf(each, members, inner) }
    }
    const found = conditional(limit)(field, scope) as { conditional?: { policy: unknown }[] }
    if (found.conditional === undefined) return { global: found }
    return { conditional: found.conditional.map((each) => ({ ...each, policy: { global: each.policy } })) }
  }
}
