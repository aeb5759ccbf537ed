import { isCelError, type Result, toText } from '@portico/cel'
import type { RequestContext } from '../pipeline/context/request-context.ts'
import { isCredentialHeader } from '../redaction/credential-names.ts'
import { digestOf } from './cache-key.ts'

/** The scope of a request without a `scope` expression; null when nothing tells clients apart. */
export function defaultScope(rx: RequestContext): string | null {
  const identity = identityOf(rx) ?? credentialOf(rx)
  // The same name may belong to another client on another route.
  return identity === null ? null : JSON.stringify([rx.route?.key ?? '', ...identity])
}

/** The client as authentication knows it: everything that is known counts. */
function identityOf({ apiKeyName, basicAuth, jwt, connection }: RequestContext): string[] | null {
  const identity: string[] = []
  if (apiKeyName !== null) identity.push('key', apiKeyName)
  if (basicAuth !== null) identity.push('user', basicAuth.username)
  const subject = jwt?.['sub']
  if (typeof subject === 'string') identity.push('subject', JSON.stringify([jwt?.['iss'] ?? null, subject]))
  const { certificate } = connection
  if (certificate !== undefined) identity.push('certificate', certificate.issuer, certificate.principal)
  return identity.length === 0 ? null : identity
}

/** The digest of all credentials that the client sent, because one of them may be that of a tenant. */
function credentialOf({ clientToken, headers }: RequestContext): string[] | null {
  const credentials: string[] = clientToken === null ? [] : ['', clientToken]
  headers.forEach((name, value) => {
    if (value !== '' && isCredentialHeader(name.toLowerCase())) credentials.push(name, value)
  })
  return credentials.length === 0 ? null : ['credential', digestOf(credentials)]
}

/** The value of an expression for the key; null when the expression failed or is empty. */
export function textOfResult(result: Result): string | null {
  if (isCelError(result) || result === null) return null
  const text = toText(result)
  return typeof text === 'string' && text !== '' ? `${typeof result} ${text}` : null
}
