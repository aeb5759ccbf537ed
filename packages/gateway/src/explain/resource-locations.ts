import type { AttachedPolicy, Ir, Listener, Route } from '../ir/resources.ts'
import { type Path, printPath } from '../schema/problem.ts'
import type { SourceLocation } from '../findings/explanation.ts'

/**
 * Locates parts of a config that comes from cluster resources; the keys and names of the parts identify the resources.
 */
export function resourceLocations(ir: Ir, gateway: string): (part: object, path: Path) => SourceLocation | null {
  return (part, path) => {
    const route = ir.routes.find((each) => each === part)
    if (route !== undefined) return routePlace(route, path)
    const listener = ir.listeners.find((each) => each === part)
    if (listener !== undefined) return listenerPlace(listener, gateway)
    for (const attachment of ir.policies) {
      const found = fieldOf(attachment, part)
      if (found !== null) return locationOf(attachment, [...found, ...path], ir)
    }
    return null
  }
}

/** The kinds of routes by name suffix: `shop/calls:grpc` is a GRPCRoute; HTTPRoutes have no suffix. */
const KINDS: Readonly<Record<string, string>> = { grpc: 'GRPCRoute', tls: 'TLSRoute', tcp: 'TCPRoute', udp: 'UDPRoute' }

/** The location of a route; its key ends with the index of the rule in the resource. */
function routePlace({ key, name }: Route, [first, ...rest]: Path): SourceLocation | null {
  const [, whole = '', suffix] = /^([^/]+\/[^/:]+)(?::(\w+))?$/.exec(name) ?? []
  const rule = /\/(\d+)$/.exec(key)?.[1]
  if (whole === '' || rule === undefined) return null
  // The route of the GwModels of a listener has no resource of its own.
  if (suffix === 'models') return named('Gateway', whole, [])
  const own = first === undefined ? [] : [first === 'backends' ? 'backendRefs' : first, ...rest]
  return named(suffix === undefined ? 'HTTPRoute' : (KINDS[suffix] ?? 'Route'), whole, [
    'spec',
    'rules',
    Number(rule),
    ...own,
  ])
}

function listenerPlace({ name, set }: Listener, gateway: string): SourceLocation {
  const [, ofSet] = /^listenerSet\/(.+)$/.exec(set ?? '') ?? []
  const path = ['spec', 'listeners', name]
  return ofSet === undefined ? named('Gateway', gateway, path) : named('ListenerSet', ofSet, path)
}

/** The path from a policy to a part of the policy. */
function fieldOf({ frontend, traffic, backend }: AttachedPolicy, part: object): Path | null {
  for (const [section, own] of Object.entries({ frontend, traffic, backend })) {
    for (const [name, config] of Object.entries(own ?? {}) as [string, unknown][]) {
      if (config === part) return [section, name]
      if (typeof config !== 'object' || config === null) continue
      const inner = (Object.entries(config) as [string, unknown][]).find(([, value]) => value === part)
      if (inner !== undefined) return [section, name, inner[0]]
    }
  }
  return null
}

/**
 * The location of a policy: `policy/shop/limits@route/…` is GwPolicy `limits`; an inline policy is located in its route
 * or backend.
 */
function locationOf({ key, target }: AttachedPolicy, path: Path, ir: Ir): SourceLocation | null {
  const [, kind, policy] = /^(policy|filter)\/([^@]*)@/.exec(key) ?? []
  if (policy !== undefined) return named(kind === 'policy' ? 'GwPolicy' : 'GwFilter', policy, ['spec', ...path])
  if (target.kind === 'rule') return rulePlace(ir, target.key, [], path)
  if (target.kind !== 'backend') return null
  const [, rule = '', entry] = /^(.*)\/backend\/(\d+)$/.exec(target.key) ?? []
  if (entry !== undefined) return rulePlace(ir, rule, ['backends', Number(entry)], path)
  const [, service] = /^backend\/service\/([^/]+\/[^/]+)\//.exec(target.key) ?? []
  if (service !== undefined) return named('Service', service, [])
  const [, model] = /^backend\/GwModel\/.*\/section\/([^/]+\/[^/]+)$/.exec(target.key) ?? []
  if (model !== undefined) return named('GwModel', model, ['spec', 'policies', ...path.slice(1)])
  const [, own, part] = /^backend\/([^/]+\/[^/]+)(?:\/section\/(.+))?$/.exec(target.key) ?? []
  if (own === undefined) return null
  // A policy of one provider or target is located by the name of that part.
  return part === undefined
    ? named('GwBackend', own, ['spec', 'policies', ...path.slice(1)])
    : named('GwBackend', own, [part, 'policies', ...path.slice(1)])
}

/** Policies that are fields of a rule; all others are filters. */
const FIELDS = ['timeouts', 'retry', 'sessionPersistence']

function rulePlace(ir: Ir, key: string, before: Path, [, policy = '', ...rest]: Path): SourceLocation | null {
  const route = ir.routes.find((each) => each.key === key)
  if (route === undefined) return null
  return routePlace(route, [...before, ...(FIELDS.includes(String(policy)) ? [policy, ...rest] : ['filters'])])
}

function named(kind: string, name: string, path: Path): SourceLocation {
  const slash = name.indexOf('/')
  const namespace = slash === -1 ? '' : name.slice(0, slash)
  return { kind, namespace, name: name.slice(slash + 1), path: printPath(path) }
}
