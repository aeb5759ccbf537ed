import { ConfigFault } from '../../../pipeline/compiled/config-fault.ts'
import type { BackendAuthConfig } from '../auth/schema.ts'

/**
 * The value of `Proxy-Authorization` for the `auth` policy of a proxy; null without a policy. Throws when the policy
 * needs something that a request to a proxy cannot carry.
 */
export function proxyCredentials(auth: BackendAuthConfig | undefined): string | null {
  if (auth === undefined) return null
  const credential = auth.key ?? auth.secretRef
  if (credential === undefined) {
    if (auth.passthrough !== undefined) {
      const found = 'found `auth.passthrough` for a proxy, which gets no token of clients'
      throw new ConfigFault(auth, ['passthrough'], { found, expected: FIXED })
    }
    throw new ConfigFault(auth, [], { found: 'found `auth` of a cloud for a proxy', expected: FIXED })
  }
  const header = auth.location === undefined ? DEFAULT : auth.location.header
  if (header === undefined || !NAMES.has(header.name.toLowerCase())) {
    const found = 'found an unsupported location for the credential of a proxy'
    throw new ConfigFault(auth, ['location'], {
      found,
      expected: 'the header `Proxy-Authorization` or `Authorization`',
    })
  }
  return (header.prefix ?? '') + credential
}

const FIXED = 'a `key` or a `secretRef`'
const DEFAULT = { name: 'authorization', prefix: 'Bearer ' }
/** Both mean the same to a proxy, which reads the first. */
const NAMES = new Set(['proxy-authorization', 'authorization'])
