import type { AttachedPolicy } from '@portico/gateway/ir'
import { trafficPolicies } from '@portico/gateway/schema'
import type { Query } from '../context.ts'
import { gatewayConfig } from '../gateways/gateway.ts'
import { COMBINED } from '../gateways/inherited-policies.ts'
import { ownerOf } from './quarantine-status.ts'

/** Fields of which those of a route and of the routes above it hold together. */
const HOLD_TOGETHER: ReadonlySet<string> = new Set([
  ...COMBINED,
  ...trafficPolicies.filter(({ merge }) => merge === 'join').map(({ name }) => name),
])

/**
 * Fields without effect at a Gateway, because a route that delegates sets them for the routes within it: messages by
 * `Kind/namespace/name` of the resource that has the field.
 */
export const overriddenFields: Query<Record<string, string[]>> = {
  name: 'overriddenFields',
  compute(context, gateway) {
    const { routes = [], policies = [] } = context.read(gatewayConfig, gateway) ?? {}
    const inherited = policies.filter(({ origin }) => origin !== undefined)
    if (inherited.length === 0) return {}
    const routesByKey = new Map(routes.map((route) => [route.key, route]))
    const ownByTarget = Map.groupBy(
      policies.filter(({ origin, phase }) => origin === undefined && phase === 'PostRouting'),
      targetKey,
    )
    const messages = new Map<string, Set<string>>()
    for (const policy of inherited) {
      const key = targetKey(policy)
      const route = routesByKey.get(key)
      const nearer = [key, `${route?.listener}/${route?.name}`].flatMap((target) => ownByTarget.get(target) ?? [])
      const fields = Object.keys(policy.traffic ?? {}).filter((name) => !HOLD_TOGETHER.has(name))
      for (const own of nearer) {
        for (const name of Object.keys(own.traffic ?? {}).filter((each) => fields.includes(each))) {
          const [owner, above] = [ownerOf(own.key), ownerOf(policy.origin ?? '')]
          if (owner === null || above === null) continue
          const message = `traffic.${name} has no effect where ${above.replace('/', ' ')} sets it for the route above`
          messages.set(owner, (messages.get(owner) ?? new Set()).add(message))
        }
      }
    }
    return Object.fromEntries([...messages].map(([owner, all]) => [owner, [...all]]))
  },
}

/** Keys of routes and rules differ, so that the kind of the target is not needed. */
function targetKey({ target }: AttachedPolicy): string {
  return target.kind === 'gateway' ? '' : target.key
}
