import { indexPolicies, type Ir, PoliciesByTarget, type Route, setsOfListeners } from '@portico/gateway/ir'
import { trafficPolicies } from '@portico/gateway/schema'

/** The effective policies at one attachment point: for each policy its config and its origin. */
type PolicySet = Record<string, EffectivePolicy>

interface EffectivePolicy {
  from: string
  /** The location `gateway.yaml:12:9`, when the file is known. */
  at?: string
  /** Origins of the same policy at outer levels, which this one overrides. */
  overrode?: string[]
  config: unknown
}

/** Returns the location of a part of the config; null when it is unknown. */
export type LocationOf = (part: object) => string | null

interface EffectiveRoute {
  route: string
  rule?: string
  /** The routes that delegate to this one, the outermost first. */
  within?: string[]
  hostnames: readonly string[]
  matches: readonly unknown[]
  traffic: PolicySet
  backends: { backend: string; weight: number; policies: PolicySet }[]
}

interface EffectiveListener {
  listener: string
  port: number
  protocol: string
  hostname?: string
  /** Policies for connections, when some hold for this port alone. */
  frontend?: PolicySet
  /** Policies that run before a route is selected. */
  preRouting: PolicySet
  routes: EffectiveRoute[]
}

interface Effective {
  frontend: PolicySet
  listeners: EffectiveListener[]
}

type Section = 'frontend' | 'traffic' | 'backend'
type Attachment = Ir['policies'][number]

/** Policies that are joined, instead of the nearest one replacing the others. */
const joined = new Set(trafficPolicies.filter(({ merge }) => merge === 'join').map(({ name }) => name))

/** Returns the policies after merging; with a name, only for routes of that name. */
export function effectivePolicies(ir: Ir, routeName: string | null, placeOf: LocationOf = () => null): Effective {
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
      ...(route.within !== undefined && { within: namesAbove(route, ir.routes) }),
      hostnames: route.hostnames,
      matches: route.matches,
      traffic: ofTraffic(index.traffic(place), near.filter(isOf('PostRouting')), placeOf),
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
        return {
          backend: names.get(backend) ?? backend,
          weight,
          policies: withOrigins(merged, attached, { section: 'backend', placeOf }),
        }
      }),
    }
  }
  const ofPort = (bind: string): { frontend?: PolicySet } => {
    const own = index.ofBind(bind)
    if (own === null) return {}
    const attached = [...byTarget.at('gateway', ''), ...byTarget.at('bind', bind)]
    return { frontend: withOrigins(own.frontend, attached, { section: 'frontend', placeOf }) }
  }
  const ports = new Map(ir.binds.map(({ key, port }) => [key, port]))
  const listeners = ir.listeners.map((listener): EffectiveListener => ({
    listener: listener.name,
    port: ports.get(listener.bind) ?? 0,
    protocol: listener.protocol,
    ...(listener.hostname !== '' && { hostname: listener.hostname }),
    ...ofPort(listener.bind),
    preRouting: ofTraffic(index.preRouting(listener.key), atListener(listener.key).filter(isOf('PreRouting')), placeOf),
    routes: ir.routes
      .filter((route) => route.listener === listener.key && (routeName === null || isNamed(route, routeName)))
      .map(routeOf),
  }))
  return {
    frontend: withOrigins(index.frontend(), byTarget.at('gateway', ''), { section: 'frontend', placeOf }),
    listeners: routeName === null ? listeners : listeners.filter(({ routes }) => routes.length > 0),
  }
}

function namesAbove({ within }: Route, routes: readonly Route[]): string[] {
  const parent = within === undefined ? undefined : routes.find(({ key }) => key === within)
  return parent === undefined ? [] : [...namesAbove(parent, routes), parent.name]
}

/** Whether the route has the name: `shop/orders`, or `orders`. */
function isNamed({ name }: Route, wanted: string): boolean {
  return name === wanted || name.endsWith(`/${wanted}`)
}

function isOf(phase: Attachment['phase']): (attachment: Attachment) => boolean {
  return (attachment) => attachment.phase === phase
}

function ofTraffic(
  effective: Readonly<Record<string, { configs: readonly unknown[]; origin: string } | undefined>>,
  attached: readonly Attachment[],
  placeOf: LocationOf,
): PolicySet {
  const held: PolicySet = {}
  for (const [name, found] of Object.entries(effective)) {
    if (found === undefined) continue
    const [only] = found.configs
    const config = found.configs.length === 1 ? only : found.configs
    held[name] = { ...origins(name, attached, { section: 'traffic', placeOf }), config }
  }
  return held
}

/** The origin of a policy is the last attachment that sets it. */
function withOrigins(merged: object, attached: readonly Attachment[], how: Origins): PolicySet {
  const held: PolicySet = {}
  for (const [name, config] of Object.entries(merged) as [string, unknown][]) {
    if (config === undefined) continue
    held[name] = { ...origins(name, attached, how), config }
  }
  return held
}

interface Origins {
  section: Section
  placeOf: LocationOf
}

function origins(
  name: string,
  attached: readonly Attachment[],
  { section, placeOf }: Origins,
): Pick<EffectivePolicy, 'from' | 'at' | 'overrode'> {
  const said = attached.flatMap((attachment) => {
    const own = Object.entries(attachment[section] ?? {}) as [string, unknown][]
    const config = own.find(([policy]) => policy === name)?.[1]
    return config === undefined ? [] : [{ attachment, config }]
  })
  const last = said.at(-1)
  const at = typeof last?.config === 'object' && last.config !== null ? placeOf(last.config) : null
  const before = (joined as ReadonlySet<string>).has(name) ? [] : said.slice(0, -1)
  return {
    from: printOrigin(last?.attachment),
    ...(at !== null && { at }),
    ...(before.length > 0 && { overrode: before.map(({ attachment }) => printOrigin(attachment)) }),
  }
}

/** Converts `policy/shop/cors@route/…` to `policy shop/cors, on route …`. */
function printOrigin(attachment: Attachment | undefined): string {
  // Routes inherit policies from the routes that delegate to them.
  const key = attachment?.origin ?? attachment?.key ?? ''
  const [, kind, name, target] = /^(policy|filter)\/([^@]*)@(.*)$/.exec(key) ?? []
  if (name === undefined || target === undefined) return key
  return `${kind} ${name}, on ${target.trim().replace(/^(\w+)[ /]/, '$1 ')}`
}
