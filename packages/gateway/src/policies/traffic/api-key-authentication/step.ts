import { hash, timingSafeEqual } from 'node:crypto'
import { ConfigFault, makeEach } from '../../../pipeline/compiled/config-fault.ts'
import { type CredentialLocation, credentialReader, SEVERAL } from '../../../pipeline/policy/credential.ts'
import { type CredentialCheck, refuseCredential } from '../../../pipeline/policy/refuse-credential.ts'
import type { Reply } from '../../../pipeline/context/reply.ts'
import type { JsonObject, RequestContext } from '../../../pipeline/context/request-context.ts'
import { failureReply } from '../../../pipeline/compiled/failure-reply.ts'
import { implement } from '../../../pipeline/context/step.ts'
import { createKeyGate } from './key-gate.ts'
import type { ApiKeyAuthenticationConfig } from './schema.ts'

export const apiKeyAuthentication = implement<ApiKeyAuthenticationConfig>((config, env) => {
  const { mode, location = BEARER, secretRef, store } = config
  const reader = credentialReader(location)
  const keysByHash = secretRef === undefined ? NO_KEYS : indexKeys(secretRef)
  const gate = store === undefined ? null : createKeyGate(store, env)
  const isProxy = location.header?.name === 'proxy-authorization'
  const challenge = [isProxy ? 'proxy-authenticate' : 'www-authenticate', challengeFor(location)] as const

  function refuse(rx: RequestContext, check: CredentialCheck, reason: string): Reply {
    rx.note({ code: 'api_key_refused', check, reason })
    const message = `api key authentication failure: ${reason}`
    return refuseCredential(rx, { status: isProxy ? 407 : 401, message, reason: 'ApiKeyAuth' }, challenge)
  }

  return {
    request(rx) {
      const key = reader.read(rx)
      if (key === SEVERAL) return refuse(rx, 'several', 'more than one API key found')
      if (key === null) {
        if (mode !== 'Optional') return refuse(rx, 'missing', 'no API key found')
        if (rx.trace !== null) rx.trace.skipped('no API key found')
        return
      }
      const listed = key.length > MAX_KEY ? undefined : findKey(keysByHash, key)
      const stored = listed !== undefined || key.length > MAX_KEY ? null : (gate?.find(key) ?? null)
      const known = listed ?? stored
      if (known === null) {
        if (gate !== null && !gate.isOpen) return refuseAll(rx)
        return refuse(rx, 'unknown', 'invalid credentials')
      }
      if (known.isDisabled) return refuse(rx, 'disabled', 'the API key is disabled')
      const now = env.clock()
      if (now >= known.expires) return refuse(rx, 'expired', 'the API key has expired')
      if (stored !== null && now < stored.notBefore) return refuse(rx, 'early', 'the API key is not valid yet')
      rx.taken = [...rx.taken, reader.remove(rx)]
      rx.apiKey = known.metadata
      rx.apiKeyName = known.name
      rx.clientToken ??= key
      if (rx.trace !== null) rx.trace.note({ code: 'api_key_accepted', name: known.name })
      if (stored !== null) return gate?.admit(rx, stored)
    },
  }
})

/** The key may be one of the store, which cannot be read. */
function refuseAll(rx: RequestContext): Reply {
  const message = 'API keys cannot be checked at the moment'
  rx.note({ code: 'key_store_failed', reason: message })
  rx.error = message
  const failure = { status: 503, message, reason: 'ApiKeyAuth', code: 'key_store_failed' } as const
  return failureReply(failure, rx.headers.get('content-type'))
}

/** RFC 9110 section 11.6.1: the scheme of the header where it has one, else what place the key is expected in. */
function challengeFor({ header, queryParameter, cookie }: CredentialLocation): string {
  const scheme = /^([A-Za-z0-9!#$%&'*+.^_`|~-]+) $/.exec(header?.prefix ?? '')?.[1]
  if (scheme !== undefined && header?.name.endsWith('authorization') === true) return scheme
  const [place, name] = header
    ? ['header', header.name]
    : cookie
      ? ['cookie', cookie.name]
      : ['query', queryParameter?.name]
  const isPlain = name !== undefined && /^[\x20-\x7e]+$/.test(name)
  return `ApiKey in="${place}"${isPlain ? `, name="${name.replaceAll(/["\\]/g, '\\$&')}"` : ''}`
}

interface KnownKey {
  name: string
  digest: Buffer
  metadata: JsonObject
  /** Milliseconds since 1970; infinite without an end. */
  expires: number
  isDisabled: boolean
}

/** Keys are found by their SHA-256, so that how long a search takes says nothing about them. */
function indexKeys(secret: NonNullable<ApiKeyAuthenticationConfig['secretRef']>): Map<string, KnownKey> {
  const keysByHash = new Map<string, KnownKey>()
  makeEach(Object.entries(secret.data ?? secret.file ?? {}), ([name, entry]) => {
    const digest = entry.key === undefined ? entry.keyHash.slice('sha256:'.length) : hash('sha256', entry.key, 'hex')
    const same = keysByHash.get(digest)
    if (same !== undefined) {
      const path = secret.data === undefined ? ['file'] : ['data', name]
      const found = `found the key of ${JSON.stringify(same.name)} a second time, as ${JSON.stringify(name)}`
      throw new ConfigFault(secret, path, { found, expected: 'each key once' })
    }
    // A `name` in the metadata wins.
    const metadata = { name, ...entry.metadata }
    const { expires = Infinity, disabled: isDisabled = false } = entry
    keysByHash.set(digest, { name, digest: Buffer.from(digest, 'hex'), metadata, expires, isDisabled })
  })
  return keysByHash
}

function findKey(keysByHash: ReadonlyMap<string, KnownKey>, key: string): KnownKey | undefined {
  if (keysByHash.size === 0) return undefined
  const digest = hash('sha256', key, 'hex')
  const known = keysByHash.get(digest)
  return known !== undefined && timingSafeEqual(known.digest, Buffer.from(digest, 'hex')) ? known : undefined
}

const NO_KEYS: ReadonlyMap<string, KnownKey> = new Map()
const BEARER = { header: { name: 'authorization', prefix: 'Bearer ' } }
const MAX_KEY = 4096
