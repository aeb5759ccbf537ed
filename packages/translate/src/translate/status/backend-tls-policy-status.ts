import { readBackendTlsPolicy } from '../../resources/backend-tls-policy.ts'
import { GATEWAY_GROUP, routeKinds } from '../../resources/kinds.ts'
import { keyOf, type Resource } from '../../resources/resource.ts'
import { type Condition, condition, type PolicyStatus } from '../../resources/status.ts'
import { routesToPool } from '../backends/pool-routes.ts'
import type { Context, Query } from '../context.ts'
import type { Unusable } from '../materials.ts'
import {
  isTlsTarget,
  policiesFor,
  referrerOf,
  sectionsOf,
  setsTls,
  settingsOf,
  type TlsTarget,
  tlsTargets,
} from '../policies/backend-tls-policy.ts'
import { gatewaysServing } from '../routes/delegations.ts'
import { trustedAuthorities } from '../tls-validation.ts'

/** The limit of entries in a status. */
const MOST_ANCESTORS = 16

/** One status entry for each of our Gateways that routes to one of the targets; null when there is none. */
export const backendTlsPolicyStatus: Query<PolicyStatus | null> = {
  name: 'backendTlsPolicyStatus',
  compute(context, key) {
    const policy = context.get('BackendTLSPolicy', key)
    if (policy === undefined) return null
    const gateways = [...new Set(tlsTargets(policy).flatMap((target) => gatewaysOf(context, target)))].toSorted()
    if (gateways.length === 0) return null
    const conditions = conditionsOf(context, policy)
    const { controllerName } = context.settings
    return {
      ancestors: gateways.slice(0, MOST_ANCESTORS).map((gateway) => {
        const [namespace = '', name = ''] = gateway.split('/')
        return { ancestorRef: { group: GATEWAY_GROUP, kind: 'Gateway', namespace, name }, controllerName, conditions }
      }),
    }
  },
}

/** Our Gateways that route to a target, to a pool whose endpoint picker it is, or to a GwBackend whose provider it is. */
function gatewaysOf(context: Context, { kind, key }: TlsTarget): string[] {
  if (kind === 'InferencePool') {
    return routesToPool(context, key).flatMap((route) => context.read(gatewaysServing, route))
  }
  const pools = kind === 'Service' ? context.keys('InferencePool', { by: 'picker', value: key }) : []
  return [`${kind}/${key}`, ...pools.map((pool) => `InferencePool/${pool}`)].flatMap((backend) =>
    routeKinds.flatMap((each) =>
      context
        .keys(each, { by: 'backend', value: backend })
        .flatMap((route) => context.read(gatewaysServing, `${each}/${route}`)),
    ),
  )
}

function conditionsOf(context: Context, policy: Resource): Condition[] {
  const generation = policy.metadata.generation ?? 0
  const spec = readBackendTlsPolicy(policy)
  const authorities = trustedAuthorities(context, referrerOf(policy), spec)
  const made = settingsOf(context, policy)
  const isRef = (reason: string): boolean => reason === 'InvalidKind' || reason === 'InvalidCACertificateRef'
  const refs = 'reason' in authorities ? (isRef(authorities.reason) ? authorities : null) : authorities.problem
  const notes = unreachedTargets(policy)
  const refusal: Unusable | null =
    conflictOf(context, policy) ??
    (notes.length === spec.targets.length
      ? { reason: 'TargetNotFound', message: notes.join('; ') }
      : 'reason' in made
        ? { reason: isRef(made.reason) ? 'NoValidCACertificate' : made.reason, message: made.message }
        : null)
  const message = ['Configuration is valid', ...notes].join('; ')
  return [
    refusal === null
      ? condition('Accepted', true, { reason: 'Accepted', message, generation })
      : condition('Accepted', false, { ...refusal, generation }),
    refs === null
      ? condition('ResolvedRefs', true, { reason: 'ResolvedRefs', message: 'Configuration is valid', generation })
      : condition('ResolvedRefs', false, { ...refs, generation }),
  ]
}

/** Messages about targets that the policy does not reach: kinds that it cannot target, and sections where there are none. */
function unreachedTargets(policy: Resource): string[] {
  return readBackendTlsPolicy(policy).targets.flatMap((target) => {
    const { group, kind, namespace, name, sectionName } = target
    if (!isTlsTarget(target)) return `${group === '' ? kind : `${kind}.${group}`} ${name} cannot be a target`
    if (sectionName === undefined || kind === 'Service') return []
    return `${kind} ${namespace}/${name} has no ports that sectionName ${sectionName} could name`
  })
}

/** Why something else takes precedence for a target of this policy; null when nothing does. */
function conflictOf(context: Context, policy: Resource): Unusable | null {
  for (const target of tlsTargets(policy)) {
    const [first] = policiesFor(context, target).filter((each) => sectionsOf(each, target).includes(target.sectionName))
    if (first !== undefined && keyOf(first) !== keyOf(policy)) {
      const message = `BackendTLSPolicy ${keyOf(first)} has the same target and takes precedence`
      return { reason: 'Conflicted', message }
    }
    if (target.kind === 'GwBackend' && setsTls(context, target.key)) {
      const message = `GwBackend ${target.key} sets policies.tls, which takes precedence`
      return { reason: 'Conflicted', message }
    }
  }
  return null
}
