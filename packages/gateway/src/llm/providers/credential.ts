import type { HeaderBlock } from '../../net/header-block.ts'
import type { CredentialPlace } from './provider.ts'

/** Where a vendor looks for a credential of this form. */
export type CredentialHeader = 'authorization' | 'x-api-key' | 'x-goog-api-key' | 'api-key'

/** Moves the credential to where the vendor looks for it. Whatever else the client sent as one goes: it is not for this vendor. */
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
  const bearer = bearerOf(headers)
  // A scheme of its own is not ours to move.
  if (bearer === null && headers.has('authorization')) return removeAll(headers, (name) => name !== 'authorization')
  const credential = bearer ?? (place.by === 'client' ? clientKey(headers) : null)
  removeAll(headers, () => true)
  if (credential === null) return
  const name = headerFor(credential)
  headers.set(name, name === 'authorization' ? `Bearer ${credential}` : credential)
}

export function alwaysBearer(): CredentialHeader {
  return 'authorization'
}

function bearerOf(headers: HeaderBlock): string | null {
  return /^bearer +(\S.*)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? null
}

/** SDKs of other vendors say their key elsewhere. */
function clientKey(headers: HeaderBlock): string | null {
  for (const name of KEY_HEADERS) {
    const key = headers.get(name)
    if (key !== null && key !== '') return key
  }
  return null
}

/** Browsers cannot set headers of a WebSocket, and say their key among its protocols. */
function dropProtocolKeys(headers: HeaderBlock): void {
  const offered = headers.joined('sec-websocket-protocol')
  if (offered === null || !PROTOCOL_KEY.test(offered)) return
  const kept = offered.split(',').filter((name) => !PROTOCOL_KEY.test(name))
  if (kept.length === 0) headers.remove('sec-websocket-protocol')
  else headers.set('sec-websocket-protocol', kept.map((name) => name.trim()).join(', '))
}

function removeAll(headers: HeaderBlock, isWanted: (name: string) => boolean): void {
  for (const name of CREDENTIAL_HEADERS) if (isWanted(name)) headers.removeAlike(name)
}

const PROTOCOL_KEY = /api-key\./i
const KEY_HEADERS = ['x-api-key', 'x-goog-api-key', 'api-key'] as const
const CREDENTIAL_HEADERS = ['authorization', ...KEY_HEADERS] as const
