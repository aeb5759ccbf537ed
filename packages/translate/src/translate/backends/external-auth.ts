import type { Backend } from '@portico/gateway/ir'
import type { Fields } from '../../resources/fields.ts'
import { type BackendReference, printReference, readBackendRef } from '../../resources/references.ts'
import { resolveBackend } from './backend-refs.ts'
import type { Context } from '../context.ts'
import type { Unusable } from '../materials.ts'

/** The authorizer of an ExternalAuth filter and its settings, in the form of the config file. */
export interface AuthorizerPlan {
  to: BackendReference
  config: Record<string, unknown>
}

const unsupported = (message: string): Unusable => ({ reason: 'UnsupportedValue', message: `ExternalAuth: ${message}` })

export function readExternalAuth(fields: Fields, namespace: string): AuthorizerPlan | Unusable {
  const protocol = fields.choice('protocol', ['HTTP', 'GRPC'])
  const reference = fields.object('backendRef')
  const to = readBackendRef(reference, namespace)
  reference.done()
  const body = fields.object('forwardBody')
  const maxSize = body.integer('maxSize', { max: 2_147_483_647 }) ?? 0
  body.done()
  const [grpc, http] = [grpcConfig(fields.object('grpc')), httpConfig(fields.object('http'))]
  fields.done()
  if (to === undefined) return unsupported('has no backend')
  if (protocol === undefined) return unsupported('protocol must be HTTP or GRPC')
  const spoken = protocol === 'GRPC' ? grpc : http
  if ('reason' in spoken) return spoken
  const forwardBody = maxSize === 0 ? {} : { forwardBody: { maxSize } }
  return { to, config: { ...spoken.config, ...forwardBody, failureMode: 'FailClosed' } }
}

function grpcConfig(fields: Fields): { config: Record<string, unknown> } {
  const allowed = fields.texts('allowedHeaders').map((name) => name.toLowerCase())
  fields.done()
  // An empty list means all headers.
  return { config: { grpc: allowed.length === 0 ? {} : { allowedRequestHeaders: [...new Set(allowed)] } } }
}

function httpConfig(fields: Fields): { config: Record<string, unknown> } | Unusable {
  const prefix = fields.text('path')?.replace(/\/+$/, '') ?? ''
  const [sent, taken] = [fields.texts('allowedHeaders'), fields.texts('allowedResponseHeaders')]
  fields.done()
  if (!PATH.test(prefix)) return unsupported('http.path must be the beginning of a path')
  // An empty list would mean all headers, so clients could set those that the authorizer omits.
  if (taken.length === 0) return unsupported('http.allowedResponseHeaders must list the headers that the backend gets')
  const absolute = prefix === '' || prefix.startsWith('/') ? prefix : `/${prefix}`
  const http = {
    ...(absolute !== '' && { path: `${JSON.stringify(absolute)} + request.pathAndQuery` }),
    allowedRequestHeaders: [...new Set(['authorization', ...sent.map((name) => name.toLowerCase())])],
    addRequestHeaders: { 'x-forwarded-host': 'request.host' },
    allowedResponseHeaders: taken,
  }
  return { config: { http } }
}

const PATH = /^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|%[0-9a-fA-F]{2})*$/

/**
 * Resolves the authorizer. Only fixed destinations are allowed: with a dynamic one, clients would choose who authorizes
 * them.
 */
export function resolveAuthorizer(
  context: Context,
  owner: { kind: string; namespace: string },
  to: BackendReference,
): { backend: Backend } | Unusable {
  const found = resolveBackend(context, owner, to)
  if ('reason' in found) return found
  const { kind } = found.backend.target
  if (kind === 'static' || kind === 'service') return found
  return { reason: 'InvalidKind', message: `${printReference(to)} is not a fixed destination` }
}
