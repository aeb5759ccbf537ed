import { Refusal } from '@portico/gateway/schema'
import type { Entries, ReferredBackend, ReferredObjects } from '@portico/gateway/schema'
import { Fields } from '../../resources/fields.ts'
import { groupByKind } from '../../resources/kinds.ts'
import { readValue } from '../../resources/material.ts'
import { type ObjectReference, printReference } from '../../resources/references.ts'
import type { Resource } from '../../resources/resource.ts'
import type { Context } from '../context.ts'
import { isGranted } from '../grants.ts'
import { serviceBackend, serviceKey } from './service.ts'

/** The key of a GwBackend in configs. */
export function ownKey(place: string): string {
  return `backend/${place}`
}

/**
 * Returns the `namespace/name` in `backend/<namespace>/<name>`; null for keys of Services and of parts, which are longer.
 */
export function placeOfOwn(key: string): string | null {
  const parts = key.split('/')
  return parts.length === 3 && parts[0] === 'backend' ? `${parts[1]}/${parts[2]}` : null
}

/** Resolves the references of a GwBackend or GwPolicy. */
export function referredObjects(
  context: Context,
  from: { kind: 'GwBackend' | 'GwModel' | 'GwPolicy' | 'GwFilter'; namespace: string },
): ReferredObjects {
  const { namespace } = from
  return {
    secret: (name) => entriesOf(context, { group: '', kind: 'Secret', namespace, name }),
    configMap: (name) => entriesOf(context, { group: '', kind: 'ConfigMap', namespace, name }),
    secrets(labels) {
      const [first = [], ...others] = Object.entries(labels).map(([name, value]) =>
        context.keys('Secret', { by: 'label', value: `${namespace} ${name}=${value}` }),
      )
      // Only Secrets with all of these labels are read; all others of the namespace are not accessed.
      const keys = first.filter((key) => others.every((other) => other.includes(key)))
      const found = keys.flatMap((key) => context.get('Secret', key) ?? [])
      if (found.length === 0) return refusalOf(`there is no Secret with these labels in ${namespace}`)
      return Object.fromEntries(found.map((secret) => [secret.metadata.name, readEntries(secret)]))
    },
    backend: (reference) => backendKeyOf(context, from, reference),
    pem: context.settings.pem,
  }
}

function entriesOf(context: Context, reference: ObjectReference & { kind: 'Secret' | 'ConfigMap' }): Entries | Refusal {
  const resource = context.get(reference.kind, `${reference.namespace}/${reference.name}`)
  return resource === undefined ? refusalOf(`${printReference(reference)} not found`) : readEntries(resource)
}

function readEntries(resource: Resource): Entries {
  const { data, stringData } = resource as Resource & { stringData?: unknown }
  const keys = [data, stringData].flatMap((part) =>
    typeof part === 'object' && part !== null ? Object.keys(part) : [],
  )
  const entries = [...new Set(keys)].toSorted().map((key) => [key, readValue(resource, key)] as const)
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** Only fixed destinations may be called: with a dynamic one, clients would choose the server that decides about them. */
function backendKeyOf(
  context: Context,
  from: { kind: string; namespace: string },
  { group, kind, name, namespace = from.namespace, port }: ReferredBackend,
): string | Refusal {
  const to: ObjectReference = { group, kind, namespace, name }
  const isService = kind === 'Service' && group === ''
  if (!isService && !(kind === 'GwBackend' && group === groupByKind.GwBackend)) {
    return refusalOf(`${group === '' ? kind : `${kind}.${group}`} cannot be a backend`)
  }
  if (!isGranted(context, { group: groupByKind.GwPolicy, ...from }, to)) {
    return refusalOf(
      `${printReference(to)} is in another namespace, and no ReferenceGrant there allows a ${from.kind} of ${from.namespace} to use it`,
    )
  }
  if (isService) {
    const place = `${namespace}/${name}/${port}`
    const found = context.read(serviceBackend, place)
    return 'reason' in found ? refusalOf(found.message) : serviceKey(place)
  }
  const resource = context.get('GwBackend', `${namespace}/${name}`)
  if (resource === undefined) return refusalOf(`${printReference(to)} not found`)
  const isFixed = new Fields(resource.spec, ['spec'], []).has('static')
  return isFixed ? ownKey(`${namespace}/${name}`) : refusalOf(`${printReference(to)} is not a fixed destination`)
}

function refusalOf(detail: string): Refusal {
  return new Refusal('unknown_reference', { detail })
}
