import type { ListenerProtocol, ListenerTls } from '@portico/gateway/ir'
import { type GatewaySpec, readGateway } from '../../resources/gateway.ts'
import { GATEWAY_GROUP, groupByKind, type ListenerSetKind, type RouteKind } from '../../resources/kinds.ts'
import type { ListenerSpec } from '../../resources/listener.ts'
import { readListenerSet } from '../../resources/listener-set.ts'
import type { ConditionType, Reason } from '../../resources/reasons.ts'
import { keyOf, type Resource } from '../../resources/resource.ts'
import { type Condition, condition } from '../../resources/status.ts'
import type { Context, Query } from '../context.ts'
import { isOurClass } from './gateway-class.ts'
import { type ListenerFilters, listenerFilters } from './listener-filters.ts'
import { authoritiesOf, certificateOf, type Referrer, type Unusable } from '../materials.ts'
import { conflictPlace, conflictsOfListeners, type ListenerConflict } from './listener-conflicts.ts'
import { listenerSetsOf } from './listener-sets.ts'
import { sharedPlaneOf } from './shared-data-plane.ts'

/** A listener of a Gateway or of one of its ListenerSets, with its state. */
export interface ResolvedListener {
  /**
   * The key in the IR. After the key of the bind follows the name; for a ListenerSet `namespace/set/name`, and for a Gateway
   * with a shared data plane `@namespace/gateway/name`.
   */
  key: string
  parent: { kind: 'Gateway' | ListenerSetKind; key: string }
  name: string
  port: number
  hostname: string
  protocol: ListenerProtocol | null
  supportedKinds: RouteKind[]
  /** Whether `allowedRoutes.kinds` has GwModel. */
  allowsModels: boolean
  from: ListenerSpec['from']
  tls: ListenerTls | null
  filters: Pick<ListenerFilters, 'traffic' | 'called'>
  /** `cut`: requests for its hostname are rejected, because its certificates cannot be used. */
  state: 'served' | 'cut' | 'absent'
  conditions: Condition[]
}

/** Whether this controller owns a Gateway. */
export const isOurGateway: Query<boolean> = {
  name: 'isOurGateway',
  compute(context, key) {
    const resource = context.get('Gateway', key)
    return resource !== undefined && context.read(isOurClass, readGateway(resource).className)
  },
}

/** All listeners of a Gateway, in order of precedence. */
export const listenersOf: Query<ResolvedListener[]> = {
  name: 'listenersOf',
  compute(context, key) {
    const resource = context.get('Gateway', key)
    if (resource === undefined || !context.read(isOurGateway, key)) return []
    const gateway = readGateway(resource)
    const conflicts = context.read(conflictsOfListeners, key)
    const isShared = context.read(sharedPlaneOf, key) !== null
    const resolve = (owner: Resource, kind: 'Gateway' | ListenerSetKind, specs: readonly ListenerSpec[]) =>
      specs.map((spec, index) => {
        const conflict = conflicts[conflictPlace(`${kind}/${keyOf(owner)}`, index)] ?? null
        return resolveListener(context, { spec, owner, kind, gateway, conflict, isShared })
      })
    const own = resolve(resource, 'Gateway', gateway.listeners)
    const others = context.read(listenerSetsOf, key).flatMap(({ kind, key: name }) => {
      const set = context.get(kind, name)
      return set === undefined ? [] : resolve(set, kind, readListenerSet(set).listeners)
    })
    return [...own, ...others]
  },
}

/** The key of the bind of a listener in the IR. */
export function bindKey(protocol: string | null, port: number): string {
  return protocol === 'UDP' ? `bind/udp/${port}` : `bind/${port}`
}

interface ListenerContext {
  spec: ListenerSpec
  owner: Resource
  kind: 'Gateway' | ListenerSetKind
  gateway: GatewaySpec
  conflict: ListenerConflict | null
  /** Whether other Gateways share the data plane, so that the key needs the name of the Gateway. */
  isShared: boolean
}

function resolveListener(
  context: Context,
  { spec, owner, kind, gateway, conflict, isShared }: ListenerContext,
): ResolvedListener {
  const generation = owner.metadata.generation ?? 0
  const say = (type: ConditionType, isTrue: boolean, reason: Reason, message: string): Condition =>
    condition(type, isTrue, { reason, message, generation })
  const protocol = protocolOf(spec.protocol)
  const offered = protocol === null ? [] : kindsOf(protocol, spec)
  const supportedKinds =
    spec.kinds === null
      ? offered
      : offered.filter((each) => spec.kinds?.some(({ group, kind: name }) => group === GATEWAY_GROUP && name === each))
  const allowsModels =
    offered.includes('HTTPRoute') &&
    spec.kinds?.some(({ group, kind: name }) => group === groupByKind.GwModel && name === 'GwModel') === true
  const known = supportedKinds.length + (allowsModels ? 1 : 0)
  const hasWrongKinds = spec.kinds !== null && known < spec.kinds.length
  const from: Referrer = { group: groupByKind[kind], kind, namespace: owner.metadata.namespace ?? '' }
  const tls = tlsOf(context, { spec, protocol, gateway, from })
  const isNamed = kind === 'Gateway' && !isShared
  const path = isNamed ? spec.name : `${kind === 'Gateway' ? '@' : ''}${keyOf(owner)}/${spec.name}`
  const key = `${bindKey(spec.protocol, spec.port)}/${path}`
  const filters = listenerFilters(context, from, { filters: spec.filters, key })
  const resolved = tls.refs ?? filters.unresolved ?? (hasWrongKinds ? WRONG_KINDS : null)
  const own = refusalOf(spec, protocol, conflict) ?? filters.refusal
  const refused = own ?? tls.refusal
  const isServed = refused === null && tls.isUsable
  return {
    key,
    parent: { kind, key: keyOf(owner) },
    name: spec.name,
    port: spec.port,
    hostname: spec.hostname,
    protocol,
    supportedKinds,
    allowsModels,
    from: spec.from,
    tls: tls.tls,
    filters: { traffic: filters.traffic, called: filters.called },
    state: isServed ? 'served' : own === null ? 'cut' : 'absent',
    conditions: [
      refused === null
        ? say('Accepted', true, 'Accepted', 'No errors found')
        : say('Accepted', false, refused.reason, refused.message),
      isServed
        ? say('Programmed', true, 'Programmed', 'No errors found')
        : say(
            'Programmed',
            false,
            conflict?.reason ?? 'Invalid',
            refused?.message ?? tls.refs?.message ?? 'Bad TLS configuration',
          ),
      conflict === null || conflict.reason === 'PortUnavailable'
        ? say('Conflicted', false, 'NoConflicts', 'No errors found')
        : say('Conflicted', true, conflict.reason, refused?.message ?? ''),
      resolved === null
        ? say('ResolvedRefs', true, 'ResolvedRefs', 'No errors found')
        : say('ResolvedRefs', false, resolved.reason, resolved.message),
    ],
  }
}

const WRONG_KINDS: Unusable = {
  reason: 'InvalidRouteKinds',
  message: 'allowedRoutes.kinds contains kinds that this protocol does not support',
}

function protocolOf(text: string): ListenerProtocol | null {
  return PROTOCOLS.find((protocol) => protocol === text) ?? null
}

const PROTOCOLS: readonly ListenerProtocol[] = ['HTTP', 'HTTPS', 'TLS', 'TCP', 'UDP']

function kindsOf(protocol: ListenerProtocol, { tls }: ListenerSpec): RouteKind[] {
  switch (protocol) {
    case 'HTTP':
    case 'HTTPS':
      return ['HTTPRoute', 'GRPCRoute']
    case 'TLS':
      return tls?.mode === 'Terminate' && tls.isModeSet ? ['TLSRoute', 'TCPRoute'] : ['TLSRoute']
    case 'TCP':
      return ['TCPRoute']
    case 'UDP':
      return ['UDPRoute']
    case 'HBONE':
      return []
  }
}

function refusalOf(
  { protocol: text, port }: ListenerSpec,
  protocol: ListenerProtocol | null,
  conflict: ListenerConflict | null,
): Unusable | null {
  if (protocol === null) {
    const upper = protocolOf(text.toUpperCase())
    const hint = upper === null ? '' : `; write it ${upper}`
    return { reason: 'UnsupportedProtocol', message: `Protocol ${text} is not supported${hint}` }
  }
  if (port === 0) return { reason: 'PortUnavailable', message: `A listener for ${protocol} needs a port` }
  return conflict
}

interface TlsFindings {
  tls: ListenerTls | null
  /**
   * Whether the listener has a usable certificate and the CAs that it needs; true for a listener that terminates no
   * TLS.
   */
  isUsable: boolean
  /** The problem with its references. */
  refs: Unusable | null
  /** The reason why the listener is not accepted. */
  refusal: Unusable | null
}

const NO_TLS: TlsFindings = { tls: null, isUsable: true, refs: null, refusal: null }

function tlsOf(
  context: Context,
  {
    spec,
    protocol,
    gateway,
    from,
  }: {
    spec: ListenerSpec
    protocol: ListenerProtocol | null
    gateway: GatewaySpec
    from: Referrer
  },
): TlsFindings {
  if (protocol !== 'HTTPS' && protocol !== 'TLS') return NO_TLS
  if (protocol === 'TLS' && spec.tls?.mode === 'Passthrough') return NO_TLS
  const fail = (refs: Unusable, refusal: Unusable | null = null): TlsFindings => ({
    tls: null,
    isUsable: false,
    refs,
    refusal,
  })
  if (spec.tls === null || spec.tls.mode === 'Passthrough' || spec.tls.certificates.length === 0) {
    return fail({ reason: 'InvalidCertificateRef', message: 'There is no certificate to terminate TLS with' })
  }
  const found = spec.tls.certificates.map((reference) => certificateOf(context, from, reference))
  const bad = found.find((each) => 'reason' in each)
  const [first, ...others] = found.flatMap((each) => ('cert' in each ? each : []))
  if (first === undefined) return fail(bad ?? { reason: 'InvalidCertificateRef', message: '' })
  const clients = clientsOf(context, gateway, spec.port)
  if (clients !== null && clients.root === null) {
    const message = 'There is no valid CA certificate to verify client certificates with'
    return fail(clients.problem ?? { reason: 'InvalidCACertificateRef', message }, {
      reason: 'NoValidCACertificate',
      message,
    })
  }
  return {
    tls: {
      ...first,
      root: clients?.root ?? null,
      ...(others.length > 0 && { others }),
      ...(clients?.isLax === true && { clientsMayLack: true }),
    },
    isUsable: true,
    refs: bad ?? clients?.problem ?? null,
    refusal: null,
  }
}

/** Returns the CAs for client certificates; null when none are requested. */
function clientsOf(
  context: Context,
  { clientValidation, namespace }: GatewaySpec,
  port: number,
): { root: string | null; isLax: boolean; problem: Unusable | null } | null {
  const validation = clientValidation.get(port) ?? clientValidation.get(0)
  if (validation === undefined) return null
  // The references belong to the Gateway, also for listeners of its ListenerSets.
  const from: Referrer = { group: GATEWAY_GROUP, kind: 'Gateway', namespace }
  const found = validation.authorities.map((reference) => authoritiesOf(context, from, reference))
  const good = found.flatMap((each) => ('pem' in each ? each.pem : []))
  const problem = found.find((each) => 'reason' in each) ?? null
  return { root: good.length === 0 ? null : good.join('\n'), isLax: validation.isLax, problem }
}
