import { indexPolicies, type Ir, PoliciesByTarget, type Route, setsOfListeners } from '@portico/gateway/ir'
import { trafficPolicies } from '@portico/gateway/schema'

/** What holds at one place: for each policy its config, and where that comes from. */
export type Held = Record<string, { from: string; config: unknown }>

export interface EffectiveRoute {
  route: string
  rule?: string
  hostnames: readonly string[]
  matches: readonly unknown[]
  traffic: Held
  backends: { backend: string; weight: number; policies: Held }[]
}

export interface EffectiveListener {
  listener: string
  port: number
  protocol: string
  hostname?: string
  /** Before a route is chosen. */
  preRouting: Held
  routes: EffectiveRoute[]
}

export interface Effective {
  frontend: Held
  listeners: EffectiveListener[]
}

type Section = 'frontend' | 'traffic' | 'backend'
type Attachment = Ir['policies'][number]

/** Policies that add up instead of the nearest one replacing the others. */
const joined = new Set(trafficPolicies.filter(({ merge }) => merge === 'join').map(({ name }) => name))

/** Which policies hold where, once all of them are merged. With a name, at routes of that name alone. */
export function effectivePolicies(ir: Ir, routeName: string | null): Effective {
  const byTarget = PoliciesByTarget.of(ir.policies)
  const sets = setsOfListeners(ir.listeners)
  const index = indexPolicies(byTarget, joined as never, sets)
  const atListener = (key: string): Attachment[] => {
    const set = sets.get(key)
    return [
      ...byTarget.at('gateway', ''),
      ...(set === undefined ? [] : byTarget.at('listenerSet', set)),
      ...byTarget.at('listener', key),
    ]
  }
  const names = new Map(ir.backends.map(({ key, name }) => [key, name]))
  const routeOf = (route: Route): EffectiveRoute => {
    const place = { listener: route.listener, key: route.key, parent: `${route.listener}/${route.name}` }
    const near = [
      ...atListener(route.listener),
      ...byTarget.at('route', place.parent),
      ...byTarget.at('rule', route.key),
    ]
    return {
      route: route.name,
      ...(route.rule !== '' && { rule: route.rule }),
      hostnames: route.hostnames,
      matches: route.matches,
      traffic: ofTraffic(index.traffic(place)),
      backends: route.backends.map(({ key: entry, backend, weight }) => {
        const merged = index.backend({
          listener: place.listener,
          route: route.key,
          parent: place.parent,
          backend,
          entry,
        })
        const attached = [
          ...near,
          ...byTarget.at('backend', backend),
          ...(entry === backend ? [] : byTarget.at('backend', entry)),
        ]
        return { backend: names.get(backend) ?? backend, weight, policies: withOrigins(merged, attached, 'backend') }
      }),
    }
  }
  const ports = new Map(ir.binds.map(({ key, port }) => [key, port]))
  const listeners = ir.listeners.map((listener): EffectiveListener => ({
    listener: listener.name,
    port: ports.get(listener.bind) ?? 0,
    protocol: listener.protocol,
    ...(listener.hostname !== '' && { hostname: listener.hostname }),
    preRouting: ofTraffic(index.preRouting(listener.key)),
    routes: ir.routes
      .filter((route) => route.listener === listener.key && (routeName === null || isNamed(route, routeName)))
      .map(routeOf),
  }))
  return {
    frontend: withOrigins(index.frontend(), byTarget.at('gateway', ''), 'frontend'),
    listeners: routeName === null ? listeners : listeners.filter(({ routes }) => routes.length > 0),
  }
}

/** `shop/orders`, or `orders` alone where nobody else has that name. */
function isNamed({ name }: Route, wanted: string): boolean {
  return name === wanted || name.endsWith(`/${wanted}`)
}

function ofTraffic(
  effective: Readonly<Record<string, { configs: readonly unknown[]; origin: string } | undefined>>,
): Held {
  const held: Held = {}
  for (const [name, found] of Object.entries(effective)) {
    if (found === undefined) continue
    const [only] = found.configs
    held[name] = { from: printOrigin(found.origin), config: found.configs.length === 1 ? only : found.configs }
  }
  return held
}

/** The last attachment that says something about a policy is where it comes from. */
function withOrigins(merged: object, attached: readonly Attachment[], section: Section): Held {
  const held: Held = {}
  for (const [name, config] of Object.entries(merged) as [string, unknown][]) {
    if (config === undefined) continue
    const says = (each: Attachment): boolean =>
      Object.entries(each[section] ?? {}).some(([own, value]) => own === name && value !== undefined)
    held[name] = { from: printOrigin(attached.findLast(says)?.key ?? ''), config }
  }
  return held
}

/** `policy/shop/cors@route/…` → `policy shop/cors, on route …` */
function printOrigin(key: string): string {
  const [, name, target] = /^policy\/([^@]*)@(.*)$/.exec(key) ?? []
  if (name === undefined || target === undefined) return key
  return `policy ${name}, on ${target.trim().replace(/^(\w+)[ /]/, '$1 ')}`
}
