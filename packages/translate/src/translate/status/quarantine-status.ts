import { type QuarantinedResource, readUnit } from '@portico/gateway/checks'
import type { RouteKind } from '../../resources/kinds.ts'
import type { PlaneMember } from '../gateways/shared-planes.ts'
import type { ConditionType } from '../../resources/reasons.ts'
import type {
  Condition,
  GatewayStatus,
  ListenerSetStatus,
  PolicyStatus,
  RouteStatus,
  Status,
} from '../../resources/status.ts'

/** A quarantine that affects one resource: the resource is at fault, or a part of it is closed. */
export interface QuarantineNote {
  /** The Gateway as `namespace/name`. */
  gateway: string
  problem: string
  /** Index of the closed rule; routes only. */
  rule?: number
  /** Name of the closed listener, or null for all listeners of the port; Gateways and ListenerSets only. */
  listener?: string | null
  /** Port of the closed listeners. */
  port?: number
}

/** Returns the notes for all resources that quarantine at a Gateway affects, by `Kind/namespace/name`. */
export function quarantineNotes(
  plane: string,
  found: readonly QuarantinedResource[],
  members: readonly PlaneMember[] = [],
): Map<string, QuarantineNote[]> {
  const notes = new Map<string, QuarantineNote[]>()
  const gateways = members.length === 0 ? [plane] : members.map(({ gateway }) => gateway)
  const add = (
    id: string | null,
    note: Omit<QuarantineNote, 'gateway'>,
    places: readonly string[] = gateways,
  ): void => {
    if (id === null) return
    const all = notes.get(id) ?? []
    notes.set(id, all)
    for (const gateway of places) all.push({ gateway, ...note })
  }
  for (const { object, problem, units } of found) {
    const owner = ownerOf(object)
    add(owner, { problem })
    const because = owner === null ? problem : `${owner.replace('/', ' ')}: ${problem}`
    for (const unit of units) {
      const { kind, key } = readUnit(unit) ?? {}
      const route = kind === 'route' && key !== undefined ? routeOf(key) : null
      if (route !== null) add(route.id, { problem: because, rule: route.rule }, memberIn(key))
      const closed =
        key !== undefined && (kind === 'listener' || kind === 'bind') ? listenersOf(plane, key, members) : []
      for (const listener of closed) {
        // The key does not say which kind of set it is, and only one of both has such a listener.
        const ids = listener.id.startsWith('ListenerSet/') ? [listener.id, `X${listener.id}`] : [listener.id]
        for (const id of ids) add(id, { problem: because, listener: listener.name, port: listener.port })
      }
    }
  }
  return notes
}

/** The Gateway in the key of a listener of a shared data plane, or of a route of that listener. */
function memberIn(key = ''): string[] | undefined {
  const [, gateway] = /^bind\/(?:udp\/)?\d+\/@([^/]+\/[^/]+)\//.exec(key) ?? []
  return gateway === undefined ? undefined : [gateway]
}

/** The cluster resource of a resource in a config; null for those without a status of ours. */
export function ownerOf(inherited: string): string | null {
  // Routes within another inherit its policies: `<key of the policy> > <key of the route>`.
  const [key = ''] = inherited.split(' > ')
  const inline = /^inline\/[a-zA-Z]+\/(.*)$/.exec(key)?.[1]
  if (inline !== undefined) return ownerOf(inline)
  const model = /^backend\/GwModel\/.*\/section\/([^/]+\/[^/]+)$/.exec(key)?.[1]
  if (model !== undefined) return `GwModel/${model}`
  if (key.startsWith('backend/GwModel/')) return null
  const [kind, one = '', other = '', third = '', fourth = ''] = key.split('/')
  if (kind === 'telemetry') return `XTelemetryPolicy/${one}/${other}`
  if (kind === 'policy' || kind === 'filter') {
    return `${kind === 'policy' ? 'GwPolicy' : 'GwFilter'}/${one}/${other.split('@')[0]}`
  }
  if (kind !== 'backend') return routeOf(key)?.id ?? null
  // The key of a GwBackend has three parts, whatever the name of its namespace is.
  if (third === '') return `GwBackend/${one}/${other}`
  // A Service and a ServiceImport have five parts; they have no status of ours.
  if ((one === 'service' || one === 'import') && fourth !== '') return null
  if (one === 'pool') return `InferencePool/${other}/${third}`
  if (one === 'telemetry' && fourth === '') return `XTelemetryPolicy/${other}/${third}`
  if (one === 'xbackend' && fourth === '') return `XBackend/${other}/${third}`
  if (one === 'filter') return `GwFilter/${other}/${third}`
  return one === 'policy' ? `GwPolicy/${other}/${third}` : `GwBackend/${one}/${other}`
}

const kindBySuffix: Readonly<Record<string, RouteKind>> = {
  '': 'HTTPRoute',
  grpc: 'GRPCRoute',
  tls: 'TLSRoute',
  tcp: 'TCPRoute',
  udp: 'UDPRoute',
}

/**
 * The key of a rule. After the port, a listener of the Gateway has one segment, a listener of a ListenerSet has three.
 */
const ROUTE_KEY =
  /^bind\/(?:udp\/)?\d+\/(?:[^/]+|[^/]+\/[^/]+\/[^/]+)\/([^/]+)\/([^/:]+)(?::(\w+))?\/(\d+)(?:\/backend\/\d+)?$/

/**
 * Reads a key `<listener key>/<namespace>/<name>[:kind]/<rule>`, optionally with a backend of the rule. Rules within
 * another follow its key: `…/<rule>><namespace>/<name>/<rule>`.
 */
function routeOf(chain: string): { id: string; rule: number } | null {
  const end = chain.lastIndexOf('>')
  const key = end < 0 ? chain : `bind/0/_/${chain.slice(end + 1)}`
  const [, namespace, name = '', suffix = '', rule] = ROUTE_KEY.exec(key) ?? []
  const kind = kindBySuffix[suffix]
  return namespace === undefined || kind === undefined
    ? null
    : { id: `${kind}/${namespace}/${name}`, rule: Number(rule) }
}

/**
 * Parses `bind/<port>` or `bind/udp/<port>`, followed by the name of a listener of the Gateway, or by a ListenerSet and the name of its
 * listener; on a shared data plane by `@`, the Gateway and the name. A bind stands for its listeners of all Gateways.
 */
function listenersOf(
  plane: string,
  key: string,
  members: readonly PlaneMember[],
): { id: string; name: string | null; port: number }[] {
  const [, at, ...path] = key.replace(/^bind\/udp\//, 'bind/').split('/')
  const port = Number(at)
  const [namespace = '', owner = '', name] = path
  if (path.length === 3) {
    const isGateway = namespace.startsWith('@')
    const id = isGateway ? `Gateway/${namespace.slice(1)}/${owner}` : `ListenerSet/${namespace}/${owner}`
    return [{ id, name: name ?? null, port }]
  }
  if (members.length === 0) return [{ id: `Gateway/${plane}`, name: path[0] ?? null, port }]
  const users = members.filter(({ binds }) => binds.includes(key))
  return users.map(({ gateway }) => ({ id: `Gateway/${gateway}`, name: null, port }))
}

/** Returns the status of `Kind/namespace/name` with its quarantine notes; conditions already False stay unchanged. */
export function withQuarantine(id: string, status: Status, notes: readonly QuarantineNote[]): Status {
  if (notes.length === 0) return status
  if (id.startsWith('GwPolicy/') || id.startsWith('GwFilter/')) return ofPolicy(status as PolicyStatus, notes)
  if (id.startsWith('GwBackend/')) return { ...status, conditions: ofBackend(status, notes) }
  if (/^(Gateway|X?ListenerSet)\//.test(id)) {
    return ofListeners(status as GatewayStatus | ListenerSetStatus, notes)
  }
  if (id.startsWith('XTelemetryPolicy/')) return ofTelemetry(status as PolicyStatus, notes)
  if (id.startsWith('XBackend/')) return ofXBackend(status as PolicyStatus, notes)
  if (id.startsWith('InferencePool/')) return ofPool(status as RouteStatus, notes)
  if (id.startsWith('GwModel/')) return ofModel(status as RouteStatus, notes)
  return 'parents' in status ? ofRoute(status, notes) : status
}

function ofPolicy(status: PolicyStatus, notes: readonly QuarantineNote[]): PolicyStatus {
  return ofAncestors(status, notes, 'Attached', 'Policy is quarantined, and its targets answer 500')
}

function ofXBackend(status: PolicyStatus, notes: readonly QuarantineNote[]): PolicyStatus {
  return ofAncestors(status, notes, 'Accepted', 'XBackend is quarantined, and requests for it are answered with 500')
}

function ofTelemetry(status: PolicyStatus, notes: readonly QuarantineNote[]): PolicyStatus {
  return ofAncestors(status, notes, 'Accepted', 'Policy is quarantined')
}

function ofAncestors(
  status: PolicyStatus,
  notes: readonly QuarantineNote[],
  type: ConditionType,
  effect: string,
): PolicyStatus {
  return {
    ...status,
    ancestors: status.ancestors.map((ancestor) => {
      const { namespace = '', name, kind } = ancestor.ancestorRef
      const own = notes.filter(({ gateway }) => kind === 'Gateway' && gateway === `${namespace}/${name}`)
      if (own.length === 0) return ancestor
      const message = `${effect}: ${problemsOf(own)}`
      return { ...ancestor, conditions: ancestor.conditions.map((each) => falseAs(each, type, message)) }
    }),
  }
}

function ofBackend(status: Status, notes: readonly QuarantineNote[]): Condition[] {
  const message = `Backend is quarantined, and requests for it are answered with 500: ${problemsOf(notes)}`
  return ('conditions' in status ? (status.conditions ?? []) : []).map((each) => falseAs(each, 'Accepted', message))
}

function ofPool(status: RouteStatus, notes: readonly QuarantineNote[]): RouteStatus {
  return {
    parents: status.parents.map((parent) => {
      const { namespace = '', name } = parent.parentRef
      const own = notes.filter(({ gateway }) => gateway === `${namespace}/${name}`)
      if (own.length === 0) return parent
      const message = `InferencePool is quarantined, and requests for it are answered with 500: ${problemsOf(own)}`
      return { ...parent, conditions: parent.conditions.map((each) => falseAs(each, 'Accepted', message)) }
    }),
  }
}

/** A model of an HTTPRoute is quarantined wherever the route is served. */
function ofModel(status: RouteStatus, notes: readonly QuarantineNote[]): RouteStatus {
  const message = `GwModel is quarantined, and requests for it are answered with 500: ${problemsOf(notes)}`
  return {
    parents: status.parents.map((parent) => ({
      ...parent,
      conditions: parent.conditions.map((each) => falseAs(each, 'Accepted', message)),
    })),
  }
}

function ofRoute(status: RouteStatus, notes: readonly QuarantineNote[]): RouteStatus {
  return {
    parents: status.parents.map((parent) => {
      const { namespace = '', name, kind } = parent.parentRef
      const own = notes.filter(({ gateway }) => kind !== 'Gateway' || gateway === `${namespace}/${name}`)
      const said = own.map(({ rule = 0, problem }) => `rules[${rule}]: answered with 500: ${problem}`)
      const accepted = parent.conditions.find(({ type }) => type === 'Accepted')
      if (said.length === 0 || accepted?.status !== 'True') return parent
      const before = parent.conditions.find(({ type }) => type === 'PartiallyInvalid')
      const news = [...new Set(said)].filter((each) => before?.message.includes(each) !== true)
      if (news.length === 0) return parent
      const message = `${before === undefined ? 'Dropped Rule: ' : `${before.message}; `}${news.join('; ')}`
      const { observedGeneration } = accepted
      const closed: Condition = {
        type: 'PartiallyInvalid',
        status: 'True',
        reason: before?.reason ?? 'Quarantined',
        message,
        observedGeneration,
      }
      return { ...parent, conditions: [...parent.conditions.filter((each) => each !== before), closed] }
    }),
  }
}

function ofListeners<Of extends GatewayStatus | ListenerSetStatus>(status: Of, notes: readonly QuarantineNote[]): Of {
  return {
    ...status,
    listeners: status.listeners.map((listener) => {
      const own = notes.filter(({ listener: name }) => name === null || name === listener.name)
      if (own.length === 0) return listener
      const message = `Listener is quarantined: ${problemsOf(own)}`
      return { ...listener, conditions: listener.conditions.map((each) => falseAs(each, 'Programmed', message)) }
    }),
  }
}

function problemsOf(notes: readonly QuarantineNote[]): string {
  return [...new Set(notes.map(({ problem }) => problem))].join('; ')
}

/** Sets a condition of this type to False; a condition that is not True stays unchanged. */
function falseAs(condition: Condition, type: string, message: string): Condition {
  if (condition.type !== type || condition.status !== 'True') return condition
  return { ...condition, status: 'False', reason: 'Quarantined', message }
}
