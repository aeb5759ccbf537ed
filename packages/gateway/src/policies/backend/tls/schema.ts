import { definePolicy } from '../../../schema/define-policy.ts'
import { list, localForm, object, orListOfOne, Refusal } from '../../../schema/kit.ts'
import type { Output, ReferredObjects } from '../../../schema/kit.ts'
import { serverName } from '../../../schema/fields/hosts.ts'
import { entryOf, objectReference, pemFile } from '../../../schema/fields/references.ts'
import { atMostOneOf } from '../../../schema/rules.ts'
import { alpnProtocols, keyExchangeGroups } from '../../../schema/fields/tls-options.ts'
import { enumeration, string } from '../../../schema/fields/values.ts'

const certificateFiles = object({
  cert: pemFile('certificate').describe('PEM file with the certificate chain.'),
  key: pemFile('privateKey').describe('PEM file with the private key.'),
  ca: pemFile('authorities')
    .optional()
    .describe('PEM file with CA certificates to verify the server, unless `caCertificateRefs` is set.'),
})

/** A Secret of the type `kubernetes.io/tls`, perhaps with authorities. */
function certificateOf(refs: { name: string }[], objects: ReferredObjects): Output<typeof certificateFiles> | Refusal {
  const [{ name } = { name: '' }] = refs
  const place = `Secret \`${name}\``
  const entries = objects.secret(name)
  const [cert, key, ca] = ['tls.crt', 'tls.key', 'ca.crt'].map((entry) => entryOf(place, entries, entry))
  if (typeof cert !== 'string') return cert as Refusal
  if (typeof key !== 'string') return key as Refusal
  const fault = objects.pem.pair(cert, key)
  if (fault !== null) return broken(place, fault)
  // Some certificate issuers write an empty `ca.crt`.
  if (typeof ca !== 'string' || ca.trim() === '') return { cert, key }
  const distrust = objects.pem.authorities(ca)
  return distrust === null ? { cert, key, ca } : broken(`${place}, entry \`ca.crt\``, distrust)
}

function authoritiesOf(refs: { name: string }[], objects: ReferredObjects): string[] | Refusal {
  const texts: string[] = []
  for (const { name } of refs) {
    const place = `ConfigMap \`${name}\``
    const text = entryOf(place, objects.configMap(name), 'ca.crt')
    if (text instanceof Refusal) return text
    const fault = objects.pem.authorities(text)
    if (fault !== null) return broken(place, fault)
    texts.push(text)
  }
  return texts
}

function broken(place: string, fault: string): Refusal {
  return new Refusal('bad_certificate', { detail: `${place}: ${fault}` })
}

export const tls = definePolicy({
  name: 'tls',
  section: 'backend',
  attach: ['route', 'backend', 'mcpTarget'],
  merge: 'replace',
  schema: object(
    {
      mtlsCertificateRef: orListOfOne(
        localForm(certificateFiles, list(objectReference(), { min: 1, max: 1 }), certificateOf),
      )
        .optional()
        .describe('Client certificate for the backend.'),
      caCertificateRefs: localForm(
        list(pemFile('authorities').describe('PEM file with CA certificates.'), { max: 1 }),
        list(objectReference(), { max: 1 }),
        authoritiesOf,
      )
        .optional()
        .describe('CA certificates to verify the server; the trust store of the system when unset.'),
      insecureSkipVerify: enumeration(['All', 'Hostname'])
        .optional()
        .describe('`All` skips all verification; `Hostname` verifies the chain but not the names.'),
      sni: serverName().optional().describe('Server name (SNI); the hostname of the destination when unset.'),
      verifySubjectAltNames: list(string({ min: 1, max: 256 }).describe('A name in the certificate.'), {
        min: 1,
        max: 16,
      })
        .optional()
        .describe('The certificate must contain one of these names; the hostname of the destination when unset.'),
      alpnProtocols: alpnProtocols()
        .optional()
        .describe('ALPN protocols to offer; when unset, those of the HTTP version in use.'),
      keyExchangeGroups: keyExchangeGroups().optional().describe('Key exchange groups in order of preference.'),
    },
    [atMostOneOf('verifySubjectAltNames', 'insecureSkipVerify')],
  ).describe(
    'Uses TLS for connections to the backend. `{}` verifies the server with the trust store of the system and the hostname of the destination.',
  ),
})

export type BackendTlsConfig = Output<typeof tls.schema>
