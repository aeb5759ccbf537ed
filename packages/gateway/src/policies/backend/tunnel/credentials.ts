import type { BackendAuthConfig } from '../auth/schema.ts'

/**
 * What the `auth` policy of a proxy is as a value of `Proxy-Authorization`; null without one. Throws where the policy
 * wants something that a request to a proxy has no place for.
 */
export function proxyCredentials(auth: BackendAuthConfig | undefined): string | null {
  if (auth === undefined) return null
  const credential = auth.key ?? auth.secretRef
  if (credential === undefined) {
    if (auth.passthrough !== undefined) {
      throw new Error('`auth.passthrough` cannot be used: a proxy gets no token of clients')
    }
    throw new Error('`auth` of a cloud cannot be used: a proxy takes a `key` or a `secretRef`')
  }
  const header = auth.location === undefined ? DEFAULT : auth.location.header
  if (header === undefined || !NAMES.has(header.name.toLowerCase())) {
    throw new Error('`auth.location` must be the header `Proxy-Authorization` or `Authorization`')
  }
  return (header.prefix ?? '') + credential
}

const DEFAULT = { name: 'authorization', prefix: 'Bearer ' }
/** Both mean the same to a proxy, which reads the first. */
const NAMES = new Set(['proxy-authorization', 'authorization'])
