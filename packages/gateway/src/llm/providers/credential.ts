import { type CredentialHeader, KEY_HEADERS, VENDOR_CREDENTIAL_HEADERS } from '../../redaction/credential-names.ts'
import type { HeaderBlock } from '@portico/http'
import type { CredentialPlace } from './provider.ts'

export type { CredentialHeader } from '../../redaction/credential-names.ts'

/**
 * Moves the credential to the header that the vendor reads. Other credentials of the client are removed: they are not
 * for this vendor.
 */
export function placeCredential(
  headers: HeaderBlock,
  place: CredentialPlace,
  headerFor: (credential: string) => CredentialHeader,
): void {
  if (place.by !== 'client') dropProtocolKeys(headers)
  if (place.by === 'signature' || place.by === 'config') {
    const kept = place.by === 'config' ? place.header : null
    removeAll(headers, (name) => name !== kept)
    return
  }
  const line = headers.get('authorization')
  const bearer = line === null ? null : bearerOf(line)
  const isInPlace = (text: string, key: string): boolean =>
    isUsual(text) && headers.nth('authorization', 1) === null && headerFor(key) === 'authorization'
  // A credential with another scheme is not moved, and most credentials are already in the right header.
  if (line !== null && (bearer === null || isInPlace(line, bearer))) return removeAll(headers, isAnother)
  const credential = bearer ?? (place.by === 'gateway' ? null : clientKey(headers))
  removeAll(headers, () => true)
  if (credential === null) return
  const name = headerFor(credential)
  headers.set(name, name === 'authorization' ? `Bearer ${credential}` : credential)
}

export function alwaysBearer(): CredentialHeader {
  return 'authorization'
}

function isAnother(name: string): boolean {
  return name !== 'authorization'
}

function bearerOf(line: string): string | null {
  return isUsual(line) ? line.slice(BEARER.length) : (/^bearer +(\S.*)$/i.exec(line)?.[1] ?? null)
}

/** Written as nearly all clients write it. */
function isUsual(line: string): boolean {
  const first = line.charCodeAt(BEARER.length)
  return first > 32 && first < 127 && line.startsWith(BEARER)
}

const BEARER = 'Bearer '

/** The client's key in a header that SDKs of other vendors use. */
function clientKey(headers: HeaderBlock): string | null {
  for (const name of KEY_HEADERS) {
    const key = headers.get(name)
    if (key !== null && key !== '') return key
  }
  return null
}

/** Removes keys from the WebSocket protocols, where browsers put them because they cannot set headers. */
function dropProtocolKeys(headers: HeaderBlock): void {
  const offered = headers.joined('sec-websocket-protocol')
  if (offered === null || !PROTOCOL_KEY.test(offered)) return
  const kept = offered.split(',').filter((name) => !PROTOCOL_KEY.test(name))
  if (kept.length === 0) headers.remove('sec-websocket-protocol')
  else headers.set('sec-websocket-protocol', kept.map((name) => name.trim()).join(', '))
}

function removeAll(headers: HeaderBlock, isWanted: (name: string) => boolean): void {
  for (const name of VENDOR_CREDENTIAL_HEADERS) if (isWanted(name)) headers.removeAlike(name)
}

const PROTOCOL_KEY = /api-key\./i
