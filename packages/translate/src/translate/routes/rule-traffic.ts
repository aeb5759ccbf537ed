import type { Backend } from '@portico/gateway/ir'
import type { TrafficPolicies } from '@portico/gateway/schema'
import { resolveBackend } from '../backends/backend-refs.ts'
import { validateTraffic } from '../validate-config.ts'
import type { Context } from '../context.ts'
import { resolveAuthorizer } from '../backends/external-auth.ts'
import type { FilterPlan } from './filters.ts'
import type { Unusable } from '../materials.ts'

/** The filters, timeouts and retries of a rule, combined. */
interface TrafficPlan {
  traffic: TrafficPolicies | null
  called: Backend[]
  unresolved: Unusable[]
  /** Why no request passes: the authorizer cannot be used. All other fields are empty then. */
  closed: Unusable | null
}

export function trafficOf(
  context: Context,
  owner: { kind: string; namespace: string },
  { policies, mirrors, authorizer }: FilterPlan,
  more: Record<string, unknown>,
): TrafficPlan | Unusable {
  const extAuth = authorizer === null ? {} : { extAuth: { ...authorizer.config, backendRef: { name: 'authorizer' } } }
  const found = validateTraffic({ ...policies, ...extAuth, ...more })
  if ('reason' in found) return found
  const asked = authorizer === null ? null : resolveAuthorizer(context, owner, authorizer.to)
  if (asked !== null && 'reason' in asked) return { traffic: null, called: [], unresolved: [], closed: asked }
  const resolved = mirrors.map(({ to, percentage }) => ({ to: resolveBackend(context, owner, to), percentage }))
  const unresolved = resolved.flatMap(({ to }) => ('reason' in to ? to : []))
  const good = resolved.flatMap(({ to, percentage }) => ('reason' in to ? [] : { backend: to.backend, percentage }))
  const [first, ...others] = good.map(({ backend, percentage }) => ({ backend: backend.key, percentage }))
  const traffic: TrafficPolicies = {
    ...found.traffic,
    ...(asked !== null && { extAuth: { ...found.traffic.extAuth, backendRef: { name: asked.backend.key } } }),
    ...(first !== undefined && { requestMirror: { ...first, ...(others.length > 0 && { others }) } }),
  }
  const called = [...good.map(({ backend }) => backend), ...(asked === null ? [] : [asked.backend])]
  return { traffic: Object.keys(traffic).length === 0 ? null : traffic, called, unresolved, closed: null }
}
