import type { BackendPolicies, FrontendPolicies, JoinedTraffic, TrafficPolicies } from '../policies/index.ts'
import type { AttachedPolicy, Listener, PolicyTarget } from './resources.ts'
import type { PoliciesByTarget } from './policies-by-target.ts'

/** Policies that are all joined instead of the nearest one replacing the others. */
export type JoinedPolicies = ReadonlySet<JoinedTraffic>

/** What holds somewhere: for each policy its config, and the attachment that config came from. */
export type Effective<Policies> = { [Name in keyof Policies]?: EffectivePolicy<NonNullable<Policies[Name]>> }

export interface EffectivePolicy<Config> {
  /** One, unless the policy is joined: then all, from the farthest to the nearest. */
  configs: readonly [Config, ...Config[]]
  /** Key of the attachment of the last one. */
  origin: string
}

/** Which policies hold where. Each top-level field is replaced whole by the nearer attachment, unless it is joined. */
export interface PolicyIndex {
  frontend(): FrontendPolicies
  /** Every network authorization of the gateway: connections must pass the union of their rules. */
  networkAuthorization(): readonly NonNullable<FrontendPolicies['networkAuthorization']>[]
  /** Before routing: gateway, set of listeners, then listener. */
  preRouting(listener: string): Effective<TrafficPolicies>
  /** Gateway, set of listeners, listener, route, then rule. */
  traffic(route: { listener: string; key: string; parent: string }): Effective<TrafficPolicies>
  /** Gateway, set of listeners, listener, route, rule, then the backend, then the entry that names it. */
  backend(place: BackendPlace): BackendPolicies
  /** Every MCP authorization of the same attachments: rules count together, so that nothing nearer takes one back. */
  mcpAuthorization(place: BackendPlace): readonly McpAuthorization[]
  /** The nearest MCP authentication of backends: a nearer attachment that sets none does not take it back. */
  mcpAuthentication(place: BackendPlace): McpAuthentication | null
}

type McpAuthorization = NonNullable<NonNullable<BackendPolicies['mcp']>['authorization']>
type McpAuthentication = NonNullable<NonNullable<BackendPolicies['mcp']>['authentication']>

export interface BackendPlace {
  listener: string
  route: string
  /** The route that a rule belongs to. */
  parent: string
  backend: string
  entry: string
  /** A part of the backend, such as one of its providers. */
  section?: string
  /** Backend that the part is reached by. */
  service?: string
}

/** `setByListener` has the listeners that belong to a set. */
export function indexPolicies(
  byTarget: PoliciesByTarget,
  joined: JoinedPolicies,
  setByListener: ReadonlyMap<string, string> = NO_SETS,
  /** Throws where a policy may not be left out of what it holds for. */
  admit: (policies: readonly AttachedPolicy[]) => readonly AttachedPolicy[] = (policies) => policies,
): PolicyIndex {
  const at = (kind: PolicyTarget['kind'], key = ''): readonly AttachedPolicy[] => admit(byTarget.at(kind, key))
  const atListener = (listener: string): AttachedPolicy[] => {
    const set = setByListener.get(listener)
    return [...at('gateway'), ...(set === undefined ? NONE : at('listenerSet', set)), ...at('listener', listener)]
  }
  const inPhase = (phase: AttachedPolicy['phase'], policies: readonly AttachedPolicy[]): AttachedPolicy[] =>
    policies.filter((policy) => policy.phase === phase)
  const frontend = replaced(byTarget.at('gateway', ''), 'frontend')
  const atBackend = ({ listener, route, parent, backend, entry, section, service }: BackendPlace): AttachedPolicy[] => [
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
    networkAuthorization: () =>
      byTarget.at('gateway', '').flatMap((policy) => policy.frontend?.networkAuthorization ?? []),
    preRouting: (listener) => merge(inPhase('PreRouting', atListener(listener)), joined),
    traffic: ({ listener, key, parent }) => {
      const all = [...atListener(listener), ...at('route', parent), ...at('rule', key)]
      return merge(inPhase('PostRouting', all), joined)
    },
    backend: (place) => replaced(atBackend(place), 'backend'),
    mcpAuthorization: (place) => atBackend(place).flatMap(({ backend }) => backend?.mcp?.authorization ?? []),
    mcpAuthentication: (place) =>
      atBackend(place)
        .flatMap(({ backend }) => backend?.mcp?.authentication ?? [])
        .at(-1) ?? null,
  }
}

const NONE: AttachedPolicy[] = []
const NO_SETS: ReadonlyMap<string, string> = new Map()

/** Of those listeners that belong to one. */
export function setsOfListeners(listeners: readonly Listener[]): ReadonlyMap<string, string> {
  const entries = listeners.flatMap(({ key, set }) => (set === undefined ? [] : [[key, set] as const]))
  return entries.length === 0 ? NO_SETS : new Map(entries)
}

/** One text for each target. */
export function targetKey(target: PolicyTarget): string {
  return target.kind === 'gateway' ? 'gateway ' : `${target.kind} ${target.key}`
}

function replaced<S extends 'frontend' | 'backend'>(
  policies: readonly AttachedPolicy[],
  section: S,
): NonNullable<AttachedPolicy[S]> {
  return Object.assign({}, ...policies.map((policy) => policy[section] ?? {})) as NonNullable<AttachedPolicy[S]>
}

function merge(policies: readonly AttachedPolicy[], joined: JoinedPolicies): Effective<TrafficPolicies> {
  const effective: Record<string, EffectivePolicy<unknown>> = {}
  for (const { key, traffic } of policies) {
    for (const [name, config] of Object.entries(traffic ?? {})) {
      if (config === undefined) continue
      const before = effective[name]
      const all = before !== undefined && (joined as ReadonlySet<string>).has(name) ? before.configs : []
      effective[name] = { configs: [...all, config] as [unknown, ...unknown[]], origin: key }
    }
  }
  return effective
}
