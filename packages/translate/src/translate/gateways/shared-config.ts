import type { AttachedPolicy, Ir, Listener } from '@portico/gateway/ir'
import { WHOLE_PLANE_FIELDS } from '../listeners/frontend-claims.ts'

/** The config of a Gateway that shares its data plane with others. */
interface MemberConfig {
  /** The Gateway as `namespace/name`. */
  gateway: string
  ir: Ir
}

/**
 * Returns the config of a data plane that these Gateways share, the oldest first. Policies of a Gateway hold for its own
 * listeners, and settings of its ports for ports that no other Gateway uses. Translation has settled conflicts already; a listener
 * that another one has taken is left out here only while one of both configs waits for a Secret.
 */
export function mergeConfigs(members: readonly MemberConfig[]): Ir {
  const listeners = freeListeners(members)
  const kept = new Set(listeners.map(({ key }) => key))
  const usersOfBinds = gatewaysByBind(members)
  const binds = new Map(members.flatMap(({ ir }) => ir.binds.map((bind) => [bind.key, bind])))
  const used = new Set(listeners.map(({ bind }) => bind))
  const routes = members.flatMap(({ ir }) => ir.routes.filter(({ listener }) => kept.has(listener)))
  const policies = members.flatMap((member) => {
    const alone = [...usersOfBinds].filter(([, users]) => users.every((user) => user === member.gateway))
    return scopePolicies(member, new Set(alone.map(([bind]) => bind)))
  })
  return {
    binds: [...binds.values()]
      .filter(({ key }) => used.has(key))
      .toSorted((one, other) => one.port - other.port || (one.key < other.key ? -1 : 1)),
    listeners,
    routes,
    backends: firstByKey(members.flatMap(({ ir }) => ir.backends)),
    policies: firstByKey(policies),
  }
}

/** The addresses of the backends of several Gateways. */
export function mergeEndpoints(
  all: readonly Readonly<Record<string, readonly string[]>>[],
): Readonly<Record<string, readonly string[]>> {
  return Object.assign({}, ...all) as Readonly<Record<string, readonly string[]>>
}

function freeListeners(members: readonly MemberConfig[]): Listener[] {
  const taken = new Map<string, { hostnames: Set<string>; isTls: boolean; isHttp: boolean }>()
  return members.flatMap(({ gateway, ir }) =>
    ir.listeners.flatMap((listener): Listener[] => {
      const { bind, hostname, protocol, name } = listener
      const [isTls, isHttp] = [protocol === 'HTTPS' || protocol === 'TLS', protocol === 'HTTP']
      const there = taken.get(bind)
      if (there !== undefined && (there.isTls !== isTls || there.isHttp !== isHttp || there.hostnames.has(hostname)))
        return []
      taken.set(bind, { isTls, isHttp, hostnames: (there?.hostnames ?? new Set<string>()).add(hostname) })
      // Policies for the ListenerSet are attached to its listeners.
      const { set: _, ...rest } = listener
      return [{ ...rest, name: `${gateway}/${name}` }]
    }),
  )
}

function gatewaysByBind(members: readonly MemberConfig[]): Map<string, string[]> {
  const users = new Map<string, string[]>()
  for (const { gateway, ir } of members) {
    for (const { bind } of ir.listeners) users.set(bind, [...(users.get(bind) ?? []), gateway])
  }
  return users
}

/**
 * Attaches the policies for a whole Gateway, and those for its ListenerSets, to the listeners that they mean. They come before
 * the policies for the listeners themselves, so that those win.
 */
function scopePolicies({ gateway, ir }: MemberConfig, ownBinds: ReadonlySet<string>): AttachedPolicy[] {
  const wide = ir.policies.filter(({ target }) => target.kind === 'gateway')
  const ofSets = ir.policies.filter(({ target }) => target.kind === 'listenerSet')
  const others = ir.policies.filter(({ target }) => target.kind !== 'gateway' && target.kind !== 'listenerSet')
  return [
    ...wide.flatMap((policy) => forBinds(policy, ownBinds)),
    ...wide.flatMap((policy) => forListeners(policy, gateway, ir.listeners)),
    ...ofSets.flatMap((policy) => {
      const { target } = policy
      const meant = ir.listeners.filter(({ set }) => target.kind === 'listenerSet' && set === target.key)
      return forListeners(policy, gateway, meant)
    }),
    ...others,
  ]
}

function forBinds({ key, frontend, ...policy }: AttachedPolicy, binds: ReadonlySet<string>): AttachedPolicy[] {
  const fields = Object.entries(frontend ?? {}).filter(([name]) => !WHOLE_PLANE_FIELDS.includes(name))
  if (fields.length === 0) return []
  return [...binds].map((bind) => ({
    ...policy,
    key: `${key} > ${bind}`,
    target: { kind: 'bind', key: bind },
    frontend: Object.fromEntries(fields) as AttachedPolicy['frontend'],
    traffic: null,
    backend: null,
  }))
}

function forListeners(policy: AttachedPolicy, gateway: string, listeners: readonly Listener[]): AttachedPolicy[] {
  if (policy.traffic === null && policy.backend === null) return []
  return listeners.map(({ key }) => ({
    ...policy,
    key: `${policy.key} > ${key}`,
    // Limits of all listeners of the Gateway are counted together.
    origin: `${policy.key}/${gateway}`,
    target: { kind: 'listener', key },
    frontend: null,
  }))
}

function firstByKey<Item extends { key: string }>(items: readonly Item[]): Item[] {
  const byKey = new Map<string, Item>()
  for (const item of items) if (!byKey.has(item.key)) byKey.set(item.key, item)
  return [...byKey.values()]
}
