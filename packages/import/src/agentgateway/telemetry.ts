import type { Field } from '../core/yaml-field.ts'
import { type PolicyTable, reader, readPolicies } from './policies/effects.ts'
import { CONNECTION_POLICIES } from './policies/tables.ts'
import {
  choice,
  type Convert,
  list,
  lost,
  mapping,
  membersOf,
  missing,
  pairs,
  scalar,
  type Scope,
} from './values/convert.ts'
import { expression } from './values/expressions.ts'
import { serviceReference } from './values/targets.ts'

const PROTOCOL = choice({ grpc: 'GRPC', http: 'HTTP' })

/** Reads added log fields. A field is left out when Portico does not accept its expression. */
const added = pairs('name', 'expression', expression('log'))

/** Reads the names of log fields to omit. Names that Portico's logs do not have are reported as not carried. */
function removed(policy: 'accessLog' | 'tracing'): Convert {
  const sample = policy === 'tracing' ? { backendRef: { host: 'a:1' } } : {}
  return list((field, scope) => {
    const isKnown =
      scope.checks.policy('frontend', policy, { ...sample, attributes: { remove: [field.text] } }).length === 0
    return isKnown
      ? scalar(field, scope)
      : lost(field, "Portico's records have no field with this name: docs/logs-and-metrics.md")
  })
}

function attributesOf(add: unknown, remove: unknown): object {
  const found = Object.entries({ remove, add }).filter(([, items]) => Array.isArray(items) && items.length > 0)
  return found.length === 0 ? {} : { attributes: Object.fromEntries(found) }
}

/** Reads the address of an OTLP collector, with the policies and headers for its connections. */
function collector(field: Field, scope: Scope): object | undefined {
  const table: PolicyTable = {
    ...CONNECTION_POLICIES,
    requestHeaderModifier: reader('http', 'extra', () => undefined),
  }
  const backendRef = serviceReference(field, scope, (policies) => {
    const { policies: own, status } = readPolicies(policies, table, scope, 'backend')
    return status === null ? own : undefined
  })
  const headers = field.get('policies')?.get('requestHeaderModifier')?.get('set') ?? null
  const lines = headers === null ? [] : (pairs('name', 'value')(headers, scope) as unknown[])
  return backendRef === undefined ? undefined : { backendRef, ...(lines.length > 0 && { headers: lines }) }
}

export const accessLog: Convert = (field, scope) => {
  if (!field.isMapping) return lost(field, 'expected a mapping')
  const { filter, add, remove } = membersOf(
    field,
    {
      filter: expression('log'),
      add: added,
      remove: removed('accessLog'),
      database: missing('Portico keeps its own records of requests: docs/admin-api.md'),
    },
    scope,
  )
  const otlp = field.get('otlp')
  const target = otlp === null ? undefined : collector(otlp.get('target') ?? otlp, scope)
  const sent =
    otlp === null || target === undefined
      ? {}
      : { otlp: { ...target, ...membersOf(otlp, { protocol: PROTOCOL, path: scalar }, scope) } }
  return { ...(filter !== undefined && { filter }), ...attributesOf(add, remove), ...sent }
}

const sampling: Convert = (field, scope) =>
  typeof field.scalar === 'string' ? expression('start')(field, scope) : scalar(field, scope)

const SAMPLING = { randomSampling: sampling, clientSampling: sampling }

export const tracing: Convert = (field, scope) => {
  if (!field.isMapping) return lost(field, 'expected a mapping')
  const target = collector(field.get('target') ?? field, scope)
  const { attributes, remove, ...rest } = membersOf(
    field,
    {
      ...SAMPLING,
      attributes: added,
      remove: removed('tracing'),
      resources: pairs('name', 'expression', expression('process')),
      protocol: PROTOCOL,
      path: scalar,
      filter: missing('Portico chooses spans by sampling, not by a filter'),
    },
    scope,
  )
  return target === undefined ? undefined : { ...target, ...rest, ...attributesOf(attributes, remove) }
}

/** Reads `config.tracing`, the place of the tracing settings in old files. */
export const oldTracing: Convert = (field, scope) => {
  if (!field.isMapping) return lost(field, 'expected a mapping')
  const endpoint = field.get('otlpEndpoint')
  const [, host, path] = /^(?:https?:\/\/|grpc:\/\/)?([\w.-]+:\d+)(\/.*)?$/.exec(endpoint?.text ?? '') ?? []
  if (endpoint === null || host === undefined) return lost(endpoint ?? field, 'expected an address with a port')
  endpoint.carried()
  const found = membersOf(
    field,
    {
      ...SAMPLING,
      otlpProtocol: ['protocol', PROTOCOL],
      headers: pairs('name', 'value'),
      path: scalar,
      fields: mapping({ add: added, remove: removed('tracing') }),
    },
    scope,
  )
  const { fields, headers, ...rest } = found
  const { add, remove } = (fields ?? {}) as Record<string, unknown>
  const isHttp = rest['protocol'] === 'HTTP'
  return {
    backendRef: { host },
    ...(Array.isArray(headers) && headers.length > 0 && { headers }),
    ...(isHttp && path !== undefined && path !== '/' && { path }),
    ...rest,
    ...attributesOf(add, remove),
  }
}

/** Reads `config.logging.filter` and `config.logging.fields`, the access log settings of old files. */
export function oldAccessLog(field: Field, scope: Scope): object | undefined {
  const { filter, fields } = membersOf(
    field,
    { filter: expression('log'), fields: mapping({ add: added, remove: removed('accessLog') }) },
    scope,
  )
  const { add, remove } = (fields ?? {}) as Record<string, unknown>
  const found = { ...(filter !== undefined && { filter }), ...attributesOf(add, remove) }
  return Object.keys(found).length === 0 ? undefined : found
}
