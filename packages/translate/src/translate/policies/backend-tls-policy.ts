import { readBackendTlsPolicy } from '../../resources/backend-tls-policy.ts'
import { GATEWAY_GROUP, routeKinds } from '../../resources/kinds.ts'
import { keyOf, type Resource } from '../../resources/resource.ts'
import { condition, type PolicyStatus } from '../../resources/status.ts'
import { gatewaysServing } from '../routes/delegations.ts'
import type { Context, Query } from '../context.ts'
import type { Referrer, Unusable } from '../materials.ts'
import { byAge } from '../precedence.ts'
import { serviceBackend } from '../backends/service.ts'
import { type BackendTls, trustedAuthorities, validatedTls } from '../tls-validation.ts'

/** TLS settings for a port of a Service, by `namespace/name/port`; null when no policy targets it. */
export const backendTls: Query<{ tls: BackendTls } | Unusable | null> = {
  name: 'backendTls',
  compute(context, place) {
    const service = place.slice(0, place.lastIndexOf('/'))
    const found = context.read(serviceBackend, place)
    // Datagrams have no TLS: a policy for the whole Service means its other ports.
    if ('port' in found && found.port.protocol === 'UDP') return null
    const portName = 'reason' in found ? '' : found.port.name
    const policies = context.list('BackendTLSPolicy', { by: 'target', value: `Service/${service}` }).toSorted(byAge)
    // A policy for the port wins over one for the whole Service.
    const [policy] = [portName, undefined].flatMap((section) =>
      policies.filter((each) => targetsOf(each, service).includes(section)),
    )
    return policy === undefined ? null : settingsOf(context, policy)
  },
}

/** Returns the settings of a policy, or why they are invalid. */
function settingsOf(context: Context, policy: Resource): { tls: BackendTls } | Unusable {
  return validatedTls(context, referrerOf(policy), readBackendTlsPolicy(policy))
}

function referrerOf({ metadata: { namespace = '' } }: Resource): Referrer {
  return { group: GATEWAY_GROUP, kind: 'BackendTLSPolicy', namespace }
}

/** The sections of a Service that a policy targets; undefined stands for the whole Service. */
function targetsOf(policy: Resource, service: string): (string | undefined)[] {
  return readBackendTlsPolicy(policy)
    .targets.filter(({ group, kind, namespace, name }) => {
      return group === '' && kind === 'Service' && `${namespace}/${name}` === service
    })
    .map(({ sectionName }) => sectionName)
}

/** One status entry for each of our Gateways that routes to one of the targets; null when there is none. */
export const backendTlsPolicyStatus: Query<PolicyStatus | null> = {
  name: 'backendTlsPolicyStatus',
  compute(context, key) {
    const policy = context.get('BackendTLSPolicy', key)
    if (policy === undefined) return null
    const services = readBackendTlsPolicy(policy)
      .targets.filter(({ group, kind }) => group === '' && kind === 'Service')
      .map(({ namespace, name }) => `${namespace}/${name}`)
    const gateways = [...new Set(services.flatMap((service) => gatewaysOf(context, service)))].toSorted()
    if (gateways.length === 0) return null
    const conditions = conditionsOf(context, policy)
    const { controllerName } = context.settings
    return {
      ancestors: gateways.slice(0, 16).map((gateway) => {
        const [namespace = '', name = ''] = gateway.split('/')
        return { ancestorRef: { group: GATEWAY_GROUP, kind: 'Gateway', namespace, name }, controllerName, conditions }
      }),
    }
  },
}

/** Our Gateways that route to a Service, or to a pool whose endpoint picker the Service is. */
function gatewaysOf(context: Context, service: string): string[] {
  const pools = context.keys('InferencePool', { by: 'picker', value: service }).map((pool) => `InferencePool/${pool}`)
  return [`Service/${service}`, ...pools].flatMap((backend) => gatewaysWith(context, backend))
}

/** Our Gateways that route to a backend, by its `Kind/namespace/name`. */
function gatewaysWith(context: Context, backend: string): string[] {
  return routeKinds.flatMap((kind) =>
    context
      .keys(kind, { by: 'backend', value: backend })
      .flatMap((route) => context.read(gatewaysServing, `${kind}/${route}`)),
  )
}

function conditionsOf(context: Context, policy: Resource) {
  const generation = policy.metadata.generation ?? 0
  const spec = readBackendTlsPolicy(policy)
  const winner = winnerOver(context, policy)
  const authorities = trustedAuthorities(context, referrerOf(policy), spec)
  const made = settingsOf(context, policy)
  const isRef = (reason: string): boolean => reason === 'InvalidKind' || reason === 'InvalidCACertificateRef'
  const refs = 'reason' in authorities ? (isRef(authorities.reason) ? authorities : null) : authorities.problem
  const refusal: Unusable | null =
    winner !== null
      ? { reason: 'Conflicted', message: `BackendTLSPolicy ${winner} has the same target and takes precedence` }
      : 'reason' in made
        ? { reason: isRef(made.reason) ? 'NoValidCACertificate' : made.reason, message: made.message }
        : null
  return [
    refusal === null
      ? condition('Accepted', true, { reason: 'Accepted', message: 'Configuration is valid', generation })
      : condition('Accepted', false, { ...refusal, generation }),
    refs === null
      ? condition('ResolvedRefs', true, { reason: 'ResolvedRefs', message: 'Configuration is valid', generation })
      : condition('ResolvedRefs', false, { ...refs, generation }),
  ]
}

/** The policy that wins a target over this one; null when none does. */
function winnerOver(context: Context, policy: Resource): string | null {
  for (const { kind, namespace, name, sectionName } of readBackendTlsPolicy(policy).targets) {
    const service = `${namespace}/${name}`
    const [first] = context
      .list('BackendTLSPolicy', { by: 'target', value: `${kind}/${service}` })
      .filter((each) => targetsOf(each, service).includes(sectionName))
      .toSorted(byAge)
    if (first !== undefined && keyOf(first) !== keyOf(policy)) return keyOf(first)
  }
  return null
}
