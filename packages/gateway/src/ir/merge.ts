import type {
  BackendPolicies,
  FrontendPolicies,
  JoinedTraffic,
  ShadowPolicies,
  TrafficPolicies,
} from '../policies/index.ts'
import type { AttachedBackend, AttachedPolicy, Listener, PolicyTarget } from './resources.ts'
import type { NetworkAuthorizationConfig as NetworkAuthorization } from '../policies/frontend/network-authorization/schema.ts'
import type { PoliciesByTarget } from './policies-by-target.ts'
import { enforcedIn, mcpRules, mcpShadows, networkRules, networkShadows, shadowsIn } from './shadow-policies.ts'

/** Policies whose attachments are all joined, instead of the nearest one replacing the others. */
type JoinedPolicies = ReadonlySet<JoinedTraffic>

/**
 * The effective policies of an attachment point: for each policy its config, and the attachment that the config came
 * from.
 */
export type Effective<Policies> = { [Name in keyof Policies]?: EffectivePolicy<NonNullable<Policies[Name]>> }

interface EffectivePolicy<Config> {
  /** One config, or for joined policies all of them, from the farthest to the nearest. */
  configs: readonly [Config, ...Config[]]
  /** The key of the last config's attachment. */
  origin: string
}

/**
 * Finds the effective policies of an attachment point. A nearer attachment replaces each top-level field whole, unless
 * the policy is joined.
 */
export interface PolicyIndex {
  frontend(): FrontendPolicies
  /** All network authorizations of the gateway: connections must pass the union of their rules. */
  networkAuthorization(): readonly NetworkAuthorization[]
  /** All shadow rules of `networkAuthorization` for a bind. */
  networkShadows(bind: string): readonly NetworkAuthorization[]
  /** The policies of a bind with policies of its own, with those of the gateway; null for other binds. */
  ofBind(bind: string): { frontend: FrontendPolicies; networkAuthorization: readonly NetworkAuthorization[] } | null
  /** Before routing: gateway, listener set, then listener. */
  preRouting(listener: string): Effective<TrafficPolicies>
  /** Gateway, listener set, listener, route, then rule. */
  traffic(route: RouteKeys): Effective<TrafficPolicies>
  /**
   * The shadow policies of an attachment point. They are merged on their own: a shadow policy never replaces or joins
   * an enforced policy.
   */
  preRoutingShadows(listener: string): Effective<ShadowPolicies>
  trafficShadows(route: RouteKeys): Effective<ShadowPolicies>
  /** Gateway, listener set, listener, route, rule, then the backend, then the route entry that names the backend. */
  backend(place: BackendKeys): AttachedBackend
  /**
   * All MCP authorizations of these attachments: their rules are combined, so that a nearer attachment cannot remove a
   * rule.
   */
  mcpAuthorization(place: BackendKeys): readonly McpAuthorization[]
  /** All shadow rules of MCP authorization of the attachments that apply to a backend. */
  mcpShadows(place: BackendKeys): readonly McpAuthorization[]
  /** The nearest MCP authentication of a backend; a nearer attachment without one does not remove it. */
  mcpAuthentication(place: BackendKeys): McpAuthentication | null
}

type McpAuthorization = NonNullable<NonNullable<BackendPolicies['mcp']>['authorization']>
type McpAuthentication = NonNullable<NonNullable<BackendPolicies['mcp']>['authentication']>

interface RouteKeys {
  listener: string
  key: string
  parent: string
}

export interface BackendKeys {
  listener: string
  route: string
  /** The route that a rule belongs to. */
  parent: string
  backend: string
  entry: string
  /** A part of the backend, such as one of its providers. */
  section?: string
  /** The backend of the Service that the part connects to. */
  service?: string
}

/** `indexPolicies` indexes the policies by target. `setByListener` maps listeners to their listener set. */
export function indexPolicies(
  byTarget: PoliciesByTarget,
  joined: JoinedPolicies,
  setByListener: ReadonlyMap<string, string> = NO_SETS,
  /** Throws when a policy must not be ignored for its target. */
  admit: (policies: readonly AttachedPolicy[]) => readonly AttachedPolicy[] = (policies) => policies,
): PolicyIndex {
  const at = (kind: PolicyTarget['kind'], key = ''): readonly AttachedPolicy[] => admit(byTarget.at(kind, key))
  const atListener = (listener: string): AttachedPolicy[] => {
    const set = setByListener.get(listener)
    return [...at('gateway'), ...(set === undefined ? NONE : at('listenerSet', set)), ...at('listener', listener)]
  }
  const inPhase = (phase: AttachedPolicy['phase'], policies: readonly AttachedPolicy[]): AttachedPolicy[] =>
    policies.filter((policy) => policy.phase === phase)
  const atRoute = ({ listener, key, parent }: RouteKeys): AttachedPolicy[] =>
    inPhase('PostRouting', [...atListener(listener), ...at('route', parent), ...at('rule', key)])
  const frontend = replaced(byTarget.at('gateway', ''), 'frontend')
  const atBackend = ({ listener, route, parent, backend, entry, section, service }: BackendKeys): AttachedPolicy[] => [
    ...atListener(listener),
    ...at('route', parent),
    ...at('rule', route),
    ...(service === undefined ? NONE : at('backend', service)),
    ...at('backend', backend),
    ...(entry === backend ? NONE : at('backend', entry)),
    ...(section === undefined ? NONE : at('backend', section)),
  ]
  return {
    frontend: () => frontend,
    networkAuthorization: () => networkRules(byTarget.at('gateway', '')),
    networkShadows: (bind) => networkShadows([...byTarget.at('gateway', ''), ...byTarget.at('bind', bind)]),
    ofBind(bind) {
      const own = byTarget.at('bind', bind)
      if (own.length === 0) return null
      const all = [...byTarget.at('gateway', ''), ...own]
      return { frontend: replaced(all, 'frontend'), networkAuthorization: networkRules(all) }
    },
    preRouting: (listener) => merge(inPhase('PreRouting', atListener(listener)), joined, enforcedIn),
    traffic: (route) => merge(atRoute(route), joined, enforcedIn),
    preRoutingShadows: (listener) => merge(inPhase('PreRouting', atListener(listener)), joined, shadowsIn),
    trafficShadows: (route) => merge(atRoute(route), joined, shadowsIn),
    backend: (place) => replaced(atBackend(place), 'backend'),
    mcpAuthorization: (place) => mcpRules(atBackend(place)),
    mcpShadows: (place) => mcpShadows(atBackend(place)),
    mcpAuthentication: (place) =>
      atBackend(place)
        .flatMap(({ backend }) => backend?.mcp?.authentication ?? [])
        .at(-1) ?? null,
  }
}

const NONE: AttachedPolicy[] = []
const NO_SETS: ReadonlyMap<string, string> = new Map()

/** The listener sets by listener, for listeners that belong to one. */
export function setsOfListeners(listeners: readonly Listener[]): ReadonlyMap<string, string> {
  const entries = listeners.flatMap(({ key, set }) => (set === undefined ? [] : [[key, set] as const]))
  return entries.length === 0 ? NO_SETS : new Map(entries)
}

/** A unique text for each target. */
export function targetKey(target: PolicyTarget): string {
  return target.kind === 'gateway' ? 'gateway ' : `${target.kind} ${target.key}`
}

function replaced<S extends 'frontend' | 'backend'>(
  policies: readonly AttachedPolicy[],
  section: S,
): NonNullable<AttachedPolicy[S]> {
  return Object.assign({}, ...policies.map((policy) => policy[section] ?? {})) as NonNullable<AttachedPolicy[S]>
}

function merge<Policies extends object>(
  policies: readonly AttachedPolicy[],
  joined: JoinedPolicies,
  select: (traffic: NonNullable<AttachedPolicy['traffic']>) => Policies,
): Effective<Policies> {
  const effective: Record<string, EffectivePolicy<unknown>> = {}
  for (const { key, traffic, origin = key } of policies) {
    if (traffic === null) continue
    for (const [name, config] of Object.entries(select(traffic)) as [string, unknown][]) {
      if (config === undefined) continue
      const before = effective[name]
      const all = before !== undefined && (joined as ReadonlySet<string>).has(name) ? before.configs : []
      effective[name] = { configs: [...all, config] as [unknown, ...unknown[]], origin }
    }
  }
  return effective as Effective<Policies>
}
