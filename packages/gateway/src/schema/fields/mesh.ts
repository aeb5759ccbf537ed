import { parseCaAddress } from '../../formats/address.ts'
import { isNamespace, isServiceAccount, isTrustDomain } from '../../formats/spiffe.ts'
import { list } from '../kit.ts'
import type { Schema } from '../kit.ts'
import { string, textual } from './values.ts'

/** The name of a trust domain of SPIFFE. */
export function trustDomain(): Schema<string> {
  return textual((text) => (isTrustDomain(text) ? text : null), {
    type: 'trust domain',
    expected: 'a trust domain such as `cluster.local`, in lower case',
    json: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[a-z0-9._-]+$' },
  })
}

export function additionalTrustDomains() {
  return list(trustDomain().describe('A trust domain.'), { max: 64 })
}

/** The address of a mesh CA, in the form of `parseCaAddress`. */
export function caAddress(): Schema<string> {
  return textual((text) => (parseCaAddress(text) === null ? null : text), {
    type: 'host:port',
    expected: '`https://host:port`',
    json: { type: 'string', minLength: 1, maxLength: 512 },
  })
}

function kubernetesName(what: string, isName: (text: string) => boolean, max: number): Schema<string> {
  return textual((text) => (isName(text) ? text : null), {
    type: 'name',
    expected: `the name of a ${what}`,
    json: { type: 'string', minLength: 1, maxLength: max, pattern: '^[a-z0-9.-]+$' },
  })
}

const file = () => string({ min: 1, max: 4_096 })

/** Fields of `config.mesh`. */
export const meshFields = {
  caAddress: caAddress().prefault('https://istiod.istio-system.svc:15012').describe('Address of the CA of the mesh.'),
  trustDomain: trustDomain().prefault('cluster.local').describe('Trust domain of this gateway.'),
  additionalTrustDomains: additionalTrustDomains()
    .prefault([])
    .describe('Other trust domains whose workloads are accepted as peers.'),
  namespace: kubernetesName('namespace', isNamespace, 63)
    .optional()
    .describe('Namespace of this gateway; `NAMESPACE` or `default` when unset.'),
  serviceAccount: kubernetesName('service account', isServiceAccount, 253)
    .optional()
    .describe('Service account of this gateway; `SERVICE_ACCOUNT` or `default` when unset.'),
  clusterId: string({ min: 1, max: 256 }, { pattern: /^[\x21-\x7e]+$/, expected: 'a name without spaces' })
    .prefault('Kubernetes')
    .describe('Name of the cluster at the CA.'),
  tokenFile: file()
    .prefault('/var/run/secrets/tokens/istio-token')
    .describe('File with the token for the CA, relative to this file; read again for every certificate.'),
  rootFile: file()
    .prefault('/var/run/secrets/istio/root-cert.pem')
    .describe('File with the root certificates of the mesh in PEM format; a change applies within 10 seconds.'),
}
