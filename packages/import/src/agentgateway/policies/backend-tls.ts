import type { Field } from '../../core/yaml-field.ts'
import { type Convert, list, lost, mapping, membersOf, scalar, type Scope } from '../values/convert.ts'

/** A PEM file. */
function file(field: Field, scope: Scope): unknown {
  if (field.isMapping)
    return (mapping({ file: scalar })(field, scope) as { file?: unknown }).file ?? lost(field, 'expected a file')
  if (field.text?.includes('-----BEGIN') === true)
    return lost(field, 'Portico reads certificates from files; write the text to a file')
  return scalar(field, scope)
}

/** Reads the TLS settings for connections to a backend. */
export const backendTls: Convert = (field, scope) => {
  if (!field.isMapping) return lost(field, 'expected a mapping')
  const { cert, key, root, hostname, names, insecure, insecureHost, ...rest } = membersOf(
    field,
    {
      cert: file,
      key: file,
      root: file,
      hostname: scalar,
      insecure: scalar,
      insecureHost: scalar,
      alpn: ['alpnProtocols', list(scalar)],
      subjectAltNames: ['names', list(scalar)],
      keyExchangeGroups: list(scalar),
    },
    scope,
  )
  const skipped = insecure === true ? 'All' : insecureHost === true ? 'Hostname' : undefined
  const verified = names ?? (hostname === undefined ? undefined : [hostname])
  return {
    ...((cert !== undefined || key !== undefined) && { mtlsCertificateRef: { cert, key } }),
    ...(root !== undefined && { caCertificateRefs: [root] }),
    ...(hostname !== undefined && { sni: hostname }),
    ...(skipped === undefined
      ? verified !== undefined && { verifySubjectAltNames: verified }
      : { insecureSkipVerify: skipped }),
    ...rest,
  }
}
