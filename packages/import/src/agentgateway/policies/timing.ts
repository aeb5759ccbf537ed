import { choice, type Convert, implied, list, lost, mapping, membersOf, scalar } from '../values/convert.ts'
import { expression } from '../values/expressions.ts'

/** Reads the timeouts of a route. Without retries, the timeout for all attempts is also that of the only attempt. */
export function timeoutOf(hasRetry: boolean): Convert {
  return (field, scope) => {
    if (!field.isMapping) return lost(field, 'expected a mapping')
    const found = membersOf(field, { requestTimeout: scalar, backendRequestTimeout: scalar }, scope)
    const { requestTimeout: all, backendRequestTimeout: each } = found
    const attempt = each ?? (hasRetry ? undefined : all)
    const isWhole = all !== undefined && attempt !== all
    if (isWhole)
      field.get('requestTimeout')?.changed("Portico's timeout includes the response body, not only the headers")
    return {
      ...(isWhole && { timeouts: { request: all } }),
      ...(attempt !== undefined && { backend: { http: { requestTimeout: attempt } } }),
    }
  }
}

export const retry: Convert = (field, scope) => {
  if (!field.isMapping) return lost(field, 'expected a mapping')
  const precondition = field.get('precondition')
  if (precondition !== null) return lost(field, "Portico's retries have no precondition, so the route has no retries")
  field.get('condition')?.notCarried('Portico retries responses by their status only')
  return membersOf(field, { attempts: scalar, backoff: scalar, codes: list(scalar) }, scope)
}

export const keepalive = mapping({
  enabled: implied('Portico always has keepalive on', true),
  time: scalar,
  interval: scalar,
  retries: scalar,
})

export const backendTcp: Convert = mapping({ keepalives: ['keepalive', keepalive], connectTimeout: scalar })

export const backendHttp: Convert = mapping({
  version: choice({ 'HTTP/1.1': 'HTTP1', 'HTTP/2.0': 'HTTP2', 'HTTP/2': 'HTTP2', HTTP1: 'HTTP1', HTTP2: 'HTTP2' }),
  requestTimeout: scalar,
})

/** Reads a share between 0 and 1 as a percentage. */
const percent: Convert = (field) => {
  if (field.number === null) return lost(field, 'expected a number')
  field.carried()
  return Math.round(field.number * 100)
}

export const health: Convert = mapping({
  unhealthyExpression: ['unhealthyCondition', expression('responseHead')],
  eviction: mapping({
    duration: scalar,
    restoreHealth: percent,
    consecutiveFailures: scalar,
    healthThreshold: percent,
  }),
})
