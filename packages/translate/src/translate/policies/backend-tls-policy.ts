import { readBackendTlsPolicy } from '../../resources/backend-tls-policy.ts'
import { GATEWAY_GROUP, groupByKind } from '../../resources/kinds.ts'
import type { ObjectReference } from '../../resources/references.ts'
import type { Resource } from '../../resources/resource.ts'
import { ownBackend } from '../backends/backend.ts'
import { placeOfPool } from '../backends/inference-pool.ts'
import { placeOfOwn } from '../backends/referred-objects.ts'
import { placeOfService, serviceBackend } from '../backends/service.ts'
import type { Context, Query } from '../context.ts'
import type { Referrer, Unusable } from '../materials.ts'
import { byAge } from '../precedence.ts'
import { type BackendTls, validatedTls } from '../tls-validation.ts'

/** Kinds that a BackendTLSPolicy may target, with their groups. */
const groupByTarget = {
  Service: '',
  GwBackend: groupByKind.GwBackend,
  InferencePool: groupByKind.InferencePool,
} as const

export interface TlsTarget {
  kind: keyof typeof groupByTarget
  /** The key as `namespace/name`. */
  key: string
  sectionName: string | undefined
}

/** TLS settings for a backend, by the key of the backend in configs; null when no policy targets the backend. */
export const backendTls: Query<{ tls: BackendTls } | Unusable | null> = {
  name: 'backendTls',
  compute(context, backend) {
    const found = targetOf(context, backend)
    const policies = found === null ? [] : policiesFor(context, found)
    // A policy for the port wins over one for the whole Service.
    const [policy] = (found?.sections ?? []).flatMap((section) =>
      policies.filter((each) => sectionsOf(each, found).includes(section)),
    )
    return policy === undefined ? null : settingsOf(context, policy)
  },
}

/** The object that a backend of a config comes from, and the sections that mean the backend, the first to hold first. */
function targetOf(
  context: Context,
  backend: string,
): (Omit<TlsTarget, 'sectionName'> & { sections: (string | undefined)[] }) | null {
  const pool = placeOfPool(backend)
  if (pool !== null) return { kind: 'InferencePool', key: pool, sections: [undefined] }
  const own = placeOfOwn(backend)
  if (own !== null) {
    return setsTls(context, own) ? null : { kind: 'GwBackend', key: own, sections: [undefined] }
  }
  const place = placeOfService(backend)
  if (place === null) return null
  const found = context.read(serviceBackend, place)
  // Datagrams have no TLS: a policy for the whole Service means its other ports.
  if ('port' in found && found.port.protocol === 'UDP') return null
  const port = 'reason' in found ? '' : found.port.name
  return { kind: 'Service', key: place.slice(0, place.lastIndexOf('/')), sections: [port, undefined] }
}

/** Whether a GwBackend has TLS settings of its own, which take precedence. */
export function setsTls(context: Context, place: string): boolean {
  const made = context.read(ownBackend, place)
  if ('reason' in made) return false
  return made.policies.some(
    ({ target, backend }) =>
      target.kind === 'backend' && placeOfOwn(target.key) === place && backend?.tls !== undefined,
  )
}

/** The policies for an object or a part of it, the oldest first. */
export function policiesFor(context: Context, { kind, key }: Pick<TlsTarget, 'kind' | 'key'>): Resource[] {
  return context.list('BackendTLSPolicy', { by: 'target', value: `${kind}/${key}` }).toSorted(byAge)
}

/** Returns the settings of a policy, or why they are invalid. */
export function settingsOf(context: Context, policy: Resource): { tls: BackendTls } | Unusable {
  return validatedTls(context, referrerOf(policy), readBackendTlsPolicy(policy))
}

export function referrerOf({ metadata: { namespace = '' } }: Resource): Referrer {
  return { group: GATEWAY_GROUP, kind: 'BackendTLSPolicy', namespace }
}

/** The sections of an object that a policy targets; undefined stands for the whole object. */
export function sectionsOf(policy: Resource, object: Pick<TlsTarget, 'kind' | 'key'> | null): (string | undefined)[] {
  return tlsTargets(policy)
    .filter(({ kind, key }) => kind === object?.kind && key === object.key)
    .map(({ sectionName }) => sectionName)
}

/** The targets of a policy that are of a kind which it may target. */
export function tlsTargets(policy: Resource): TlsTarget[] {
  return readBackendTlsPolicy(policy).targets.flatMap((target) => {
    const { kind, namespace, name, sectionName } = target
    return isTlsTarget(target) ? [{ kind: kind as TlsTarget['kind'], key: `${namespace}/${name}`, sectionName }] : []
  })
}

export function isTlsTarget({ group, kind }: ObjectReference): boolean {
  return Object.hasOwn(groupByTarget, kind) && groupByTarget[kind as TlsTarget['kind']] === group
}
