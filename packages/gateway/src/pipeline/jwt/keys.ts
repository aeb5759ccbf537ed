import type { PublicJwk } from '../../formats/jwk-set.ts'
import { ConfigFault } from '../compiled/config-fault.ts'
import { fetchText } from '../callouts/fetch-text.ts'
import type { HeaderBlock } from '@portico/http'
import type { SpanParent } from '../spans/request-spans.ts'
import type { Env } from '../context/step.ts'
import { targetPath } from '../../formats/query-parameters.ts'
import { KeySet } from '../../state/key-set.ts'
import { type FetchedKeys, RemoteKeys } from '../../state/remote-keys.ts'
import type { KeySource } from './verify.ts'

/** The source of an issuer's keys; one of the four fields is set. */
export interface KeysConfig {
  inline?: readonly PublicJwk[] | undefined
  file?: readonly PublicJwk[] | undefined
  url?: { backend: string; authority: string; path: string } | undefined
  remote?: { backendRef: { name: string }; jwksPath: string; cacheDuration: number } | undefined
}

/** Returns the keys that are fetched from a backend or URL; null when the config contains the keys. */
export function remoteKeySource({ url, remote }: KeysConfig, env: Env): RemoteKeys<SpanParent> | null {
  if (url !== undefined) return remoteKeys(env, { ...url, lifetimeMs: null })
  if (remote === undefined) return null
  const { backendRef, jwksPath, cacheDuration } = remote
  const path = jwksPath.startsWith('/') ? jwksPath : `/${jwksPath}`
  return remoteKeys(env, { backend: backendRef.name, authority: null, path, lifetimeMs: cacheDuration })
}

export function fixedKeySource(config: KeysConfig): KeySource {
  const keys = KeySet.of(config.inline ?? config.file ?? [])
  if (keys === null) {
    const phrases = { found: 'found no key that can be used', expected: 'public keys of RSA, EC or Ed25519' }
    throw new ConfigFault(config, [config.inline === undefined ? 'file' : 'inline'], phrases)
  }
  return { current: () => keys, renewed: () => null }
}

interface RemoteSource {
  backend: string
  /** Null for the backend's own name. */
  authority: string | null
  path: string
  /** Null for the lifetime in the response's `cache-control`. */
  lifetimeMs: number | null
}

function remoteKeys(env: Env, { backend, authority, path, lifetimeMs }: RemoteSource): RemoteKeys<SpanParent> {
  const { log, monotonic, random } = env
  const client = env.client(backend)
  const { content, address } = env.describe(backend)
  const options = {
    authority: authority ?? client.hostname ?? address,
    target: path,
    maxBytes: MAX_BYTES,
    timeoutMs: TIMEOUT_MS,
  }
  const fetch = async (span: SpanParent | null): Promise<FetchedKeys> => {
    const { headers, text } = await fetchText(client, { ...options, span })
    return { text, lifetimeMs: lifetimeMs ?? lifetimeOf(headers) }
  }
  // The query is not logged, because it may contain a key.
  const failed = (error: string): void =>
    log.warn('signing keys not fetched', { backend, path: targetPath(path), error })
  const source = JSON.stringify(['jwks', content, options.authority, path, lifetimeMs])
  const keys = env.kept.held(source, () => new RemoteKeys<SpanParent>({ fetch, monotonic, random, failed }))
  // The client of an earlier config generation may be closed.
  keys.fetch = fetch
  return keys
}

/** Returns the lifetime from `cache-control`, within bounds, so that revoked keys are not used for days. */
function lifetimeOf(headers: HeaderBlock): number {
  const control = headers.joined('cache-control') ?? ''
  const found = /(?:^|[\s,])max-age="?([0-9]{1,9})/i.exec(control)
  if (found === null || /(?:^|[\s,])no-(?:store|cache)/i.test(control)) return DEFAULT_LIFETIME_MS
  return Math.min(Math.max(Number(found[1]) * 1000, SHORTEST_LIFETIME_MS), LONGEST_LIFETIME_MS)
}

const MAX_BYTES = 1024 * 1024
const TIMEOUT_MS = 10_000
const DEFAULT_LIFETIME_MS = 300_000
const SHORTEST_LIFETIME_MS = 10_000
const LONGEST_LIFETIME_MS = 3_600_000
