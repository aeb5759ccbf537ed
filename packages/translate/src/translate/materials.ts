import type { Certificate } from '@portico/gateway/ir'
import { textAt } from '../resources/json.ts'
import { groupByKind } from '../resources/kinds.ts'
import { readValue } from '../resources/material.ts'
import type { Reason } from '../resources/reasons.ts'
import { type ObjectReference, printReference } from '../resources/references.ts'
import type { Context } from './context.ts'
import { isGranted } from './grants.ts'

/** Why a reference cannot be used, as reason and message of a condition. */
export interface Unusable {
  reason: Reason
  message: string
}

/** The object that has the reference. */
export interface Referrer {
  group: string
  kind: string
  namespace: string
}

/** Reads the certificate and key of a Secret. */
export function certificateOf(context: Context, from: Referrer, to: ObjectReference): Certificate | Unusable {
  const invalid = (message: string): Unusable => ({ reason: 'InvalidCertificateRef', message })
  if (to.group !== '' || to.kind !== 'Secret') return invalid(`${printReference(to)} is not a Secret`)
  if (!isGranted(context, from, to)) return notPermitted(from, to)
  const secret = context.get('Secret', `${to.namespace}/${to.name}`)
  if (secret === undefined) return invalid(`${printReference(to)} not found`)
  const [cert, key] = [readValue(secret, 'tls.crt'), readValue(secret, 'tls.key')]
  if (cert === undefined || key === undefined) return invalid(`${printReference(to)} lacks tls.crt or tls.key`)
  const problem = context.settings.pem.pair(cert, key)
  return problem === null ? { cert, key } : invalid(`${printReference(to)}: ${problem}`)
}

/** Reads the CAs under `ca.crt` of a ConfigMap or a Secret, or those of a ClusterTrustBundle. */
export function authoritiesOf(context: Context, from: Referrer, to: ObjectReference): { pem: string } | Unusable {
  const isBundle = to.group === groupByKind.ClusterTrustBundle && to.kind === 'ClusterTrustBundle'
  if (!isBundle && (to.group !== '' || (to.kind !== 'ConfigMap' && to.kind !== 'Secret'))) {
    const name = to.group === '' ? printReference(to) : `${to.kind}.${to.group} ${to.name}`
    const message = `${name} is neither a ConfigMap nor a Secret nor a ClusterTrustBundle`
    return { reason: 'InvalidCACertificateKind', message }
  }
  const invalid = (message: string): Unusable => ({ reason: 'InvalidCACertificateRef', message })
  // A ClusterTrustBundle has no namespace, and everyone in the cluster may read it.
  if (!isBundle && !isGranted(context, from, to)) return notPermitted(from, to)
  const name = isBundle ? `ClusterTrustBundle ${to.name}` : printReference(to)
  const resource = isBundle
    ? context.get('ClusterTrustBundle', to.name)
    : context.get(to.kind === 'Secret' ? 'Secret' : 'ConfigMap', `${to.namespace}/${to.name}`)
  if (resource === undefined) return invalid(`${name} not found`)
  const key = isBundle ? 'spec.trustBundle' : 'ca.crt'
  const pem = isBundle ? textAt(resource.spec, 'trustBundle') : readValue(resource, 'ca.crt')
  if (pem === undefined) return invalid(`${name} lacks ${key}`)
  const problem = context.settings.pem.authorities(pem)
  return problem === null ? { pem } : invalid(`${name}: ${problem}`)
}

function notPermitted(from: Referrer, to: ObjectReference): Unusable {
  const message = `${printReference(to)} is in another namespace, and no ReferenceGrant there allows ${from.kind}s of ${from.namespace} to use it`
  return { reason: 'RefNotPermitted', message }
}
