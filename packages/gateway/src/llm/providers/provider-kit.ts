import {
  isCredentialParameter,
  type CredentialHeader,
  KEY_HEADERS,
  VENDOR_CREDENTIAL_HEADERS,
} from '../../redaction/credential-names.ts'
import { splitTarget, withoutParameter, withoutParametersWhere } from '../../formats/query-parameters.ts'
import { UnsupportedField } from '@portico/chat'
import type { Destination, ProviderCall, CredentialPlace } from './provider.ts'
import type { Overrides } from '../../schema/fields/llm-providers.ts'
import type { HeaderBlock } from '@portico/http'

/** The parts that providers are built from: destination, path and query, credential, headers, a cache by model. */

/** The vendor's path for a call; null keeps the path of the client. */
type OwnTarget = (call: ProviderCall) => string | UnsupportedField | null

/** The client's query parameters to drop. Some vendors refuse unknown parameters, which SDKs of other vendors send. */
interface QueryRule {
  drop: 'all' | readonly string[]
}

/**
 * Creates the function that returns the path and query of a call: configured ones win over the vendor's. Credentials in
 * the client's query are for the gateway and are never forwarded; policies of the backend may add others.
 */
export function createTarget(
  { path, pathPrefix }: Overrides,
  own: OwnTarget,
  { drop }: QueryRule,
): (call: ProviderCall) => string | UnsupportedField {
  return (call) => {
    if (call.kind === 'raw') return rawTarget(call.clientTarget, pathPrefix)
    // The fixed path is for chat calls only; model lists, files and batches have paths of their own.
    if (path !== undefined && call.kind !== 'models' && call.resource === undefined) return path
    const target = own(call)
    if (target === null) return rawTarget(call.clientTarget, pathPrefix)
    if (target instanceof UnsupportedField || drop === 'all') return target
    return withClientQuery(target, splitTarget(call.clientTarget)[1], drop)
  }
}

/** The path prefix before the name of a call, without a trailing slash. */
export function basePath({ pathPrefix = '/v1' }: Overrides): string {
  return pathPrefix.replace(/\/+$/, '')
}

/**
 * The configured host, the first member of an inference pool, or the vendor's host. A self-hosted server on a port other than 443 usually speaks plaintext HTTP.
 */
export function destinationOf({ host: other, port = TLS_PORT, inferencePool }: Overrides, own: string): Destination {
  const member = inferencePool?.endpoints[0]
  if (member !== undefined) return { ...member, tls: false, authority: authorityOf(member) }
  const host = other ?? own
  const isStandard = port === TLS_PORT
  return { host, port, tls: isStandard, authority: isStandard ? nameOf(host) : authorityOf({ host, port }) }
}

function authorityOf({ host, port }: { host: string; port: number }): string {
  return `${nameOf(host)}:${port}`
}

function nameOf(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

function rawTarget(target: string, pathPrefix: string | undefined): string {
  const clientTarget = withoutParametersWhere(target, isCredentialParameter)
  if (pathPrefix === undefined) return clientTarget
  const prefix = basePath({ pathPrefix })
  return prefix + (/^\/v1(?=[/?]|$)/.test(clientTarget) ? clientTarget.slice('/v1'.length) : clientTarget)
}

/** Adds the client's query. The client cannot override the vendor's own parameters. */
function withClientQuery(target: string, query: string, drop: readonly string[]): string {
  if (query === '') return target
  const [path, own] = splitTarget(target)
  const taken = own.split('&').map((pair) => pair.split('=', 1)[0] ?? '')
  const forwarded = withoutParametersWhere(`?${query}`, isCredentialParameter)
  const [, kept] = splitTarget([...taken, ...drop].reduce(withoutParameter, forwarded))
  const all = [own, kept].filter((part) => part !== '').join('&')
  return all === '' ? path : `${path}?${all}`
}

const TLS_PORT = 443

/** The model as one segment of a path. Clients choose the name, so it must not reach another path. */
export function modelSegment(model: string): string | UnsupportedField {
  if (model.length > MAX_SEGMENT || !model.isWellFormed() || UNFIT.test(model)) return UNFIT_MODEL
  return encodeURIComponent(model).replace(LITERAL, (escape) => decodeURIComponent(escape))
}

const MAX_SEGMENT = 512
/** Nothing, control characters, and segments that servers resolve. */
const UNFIT = /^$|[\0-\x1f\x7f]|(^|[/\\])\.{1,2}([/\\]|$)/
/** Legal in a segment, and part of names: `model:0`, `model@version`. */
const LITERAL = /%3A|%40|%2C|%3D|%2B/g
const UNFIT_MODEL = new UnsupportedField('model', 'must be the name of a model')

/** The method of Google's API for a call, and the query that it needs. */
export function googleMethod({ kind, stream, clientTarget }: ProviderCall): string {
  if (kind === 'countTokens') return kind
  if (kind !== 'embeddings') return stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return splitTarget(clientTarget)[0].endsWith(':batchEmbedContents') ? 'batchEmbedContents' : 'embedContent'
}

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
    removeCredentials(headers, (name) => name !== kept)
    return
  }
  const line = headers.get('authorization')
  const bearer = line === null ? null : bearerOf(line)
  const isInPlace = (text: string, key: string): boolean =>
    isUsual(text) && headers.nth('authorization', 1) === null && headerFor(key) === 'authorization'
  // A credential with another scheme is not moved, and most credentials are already in the right header.
  if (line !== null && (bearer === null || isInPlace(line, bearer))) return removeCredentials(headers, isAnother)
  const credential = bearer ?? (place.by === 'gateway' ? null : clientKey(headers))
  removeCredentials(headers, () => true)
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

/** Whether the line has the scheme in the spelling of nearly all clients, followed by a credential. */
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

function removeCredentials(headers: HeaderBlock, matches: (name: string) => boolean): void {
  for (const name of VENDOR_CREDENTIAL_HEADERS) if (matches(name)) headers.removeAlike(name)
}

const PROTOCOL_KEY = /api-key\./i

/** Prefixes of headers that only the SDKs of one vendor send. */
const PREFIX_BY_VENDOR = { anthropic: 'anthropic-', openai: 'openai-', google: 'x-goog-', amazon: 'x-amz' } as const

type Vendor = keyof typeof PREFIX_BY_VENDOR

/** Removes the headers that only the SDKs of other vendors send. */
export function dropForeignHeaders(headers: HeaderBlock, own: Vendor): void {
  for (const { vendor, prefix, keyHeader } of PREFIXES) {
    // `placeCredential` handles the headers of keys.
    if (vendor !== own) headers.removePrefixed(prefix, keyHeader)
  }
}

/** Removes the headers of browsers: Anthropic refuses calls that seem to come from a browser. */
export function dropBrowserHeaders(headers: HeaderBlock): void {
  headers.remove('origin')
  for (const prefix of BROWSER) headers.removePrefixed(prefix)
}

/** Sets the version of the API that Anthropic requires in each call. */
export function setAnthropicVersion(headers: HeaderBlock): void {
  if (!headers.has('anthropic-version')) headers.set('anthropic-version', '2023-06-01')
}

const BROWSER = ['access-control-request-', 'sec-fetch-']
const PREFIXES = (Object.keys(PREFIX_BY_VENDOR) as Vendor[]).map((vendor) => {
  const prefix = PREFIX_BY_VENDOR[vendor]
  return { vendor, prefix, keyHeader: KEY_HEADERS.find((name) => name.startsWith(prefix)) ?? '' }
})

/** Caches `find` by model name, for recently used names. */
export function byModel<T extends object>(find: (model: string) => T): (model: string) => T {
  const known = new Map<string, T>()
  return (model) => {
    const before = known.get(model)
    if (before !== undefined) return before
    const found = find(model)
    // Clients choose the names, so the cache is bounded.
    if (known.size === MAX_CACHED_NAMES) known.clear()
    if (model.length <= MAX_CACHED_LENGTH) known.set(model, found)
    return found
  }
}

const MAX_CACHED_NAMES = 100
const MAX_CACHED_LENGTH = 100
