import { parseBackendUrl, urlKey } from '../../formats/address.ts'
import { serverMetadataPaths } from '../../formats/well-known.ts'
import { fetchText } from '../../pipeline/callouts/fetch-text.ts'
import type { JsonObject } from '../../pipeline/context/request-context.ts'
import type { SpanParent } from '../../pipeline/spans/request-spans.ts'
import type { Env } from '../../pipeline/context/step.ts'
import type { IdentityProvider } from './config.ts'
import { readMetadata } from './read-metadata.ts'

/** A cache of one authorization server's metadata: one fetch at a time; after failures, the last valid document is kept. */
class ServerMetadata {
  /** Fetches the document; a config reload may replace the function, because the HTTP client of the issuer changed. */
  fetch: (span: SpanParent | null) => Promise<JsonObject>
  readonly #monotonic: () => number
  readonly #failed: (reason: string) => void
  #document: JsonObject | null = null
  #underWay: Promise<JsonObject | null> | null = null
  /** The earliest time of the next fetch. */
  #nextAt = -Infinity

  constructor(fetch: ServerMetadata['fetch'], monotonic: () => number, failed: (reason: string) => void) {
    this.fetch = fetch
    this.#monotonic = monotonic
    this.#failed = failed
  }

  /** Returns the document; null when it cannot be fetched. `span` is the parent of the span of the fetch. */
  current(span: SpanParent | null): JsonObject | null | Promise<JsonObject | null> {
    if (this.#underWay !== null) return this.#underWay
    if (this.#monotonic() < this.#nextAt) return this.#document
    this.#underWay = this.#run(span).finally(() => (this.#underWay = null))
    return this.#underWay
  }

  async #run(span: SpanParent | null): Promise<JsonObject | null> {
    try {
      this.#document = await this.fetch(span)
      this.#nextAt = this.#monotonic() + LIFETIME_MS
    } catch (error) {
      this.#nextAt = this.#monotonic() + PAUSE_MS
      this.#failed(error instanceof Error ? error.message : String(error))
    }
    return this.#document
  }
}

/** Returns the cache of the issuer's metadata, which all routes with the same issuer share. */
export function sharedServerMetadata(issuer: string, provider: IdentityProvider | null, env: Env): ServerMetadata {
  const url = parseBackendUrl(issuer)
  if (url === null) throw new Error(`the issuer ${issuer} is not a valid backend URL`)
  const key = urlKey(url)
  const client = env.client(key)
  const { oauth, openid } = serverMetadataPaths(url.path)
  const paths = provider === 'Keycloak' ? [openid, oauth] : [oauth, openid]
  const fetch = async (span: SpanParent | null): Promise<JsonObject> => {
    let fault = ''
    for (const target of paths) {
      const found = await attempt(target, span)
      if ('document' in found) return found.document
      fault ||= found.fault
    }
    throw new Error(fault)
  }
  const attempt = async (target: string, span: SpanParent | null): Promise<ReturnType<typeof readMetadata>> => {
    const options = { authority: url.authority, target, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, span }
    try {
      return readMetadata((await fetchText(client, options)).text, issuer)
    } catch (error) {
      return { fault: error instanceof Error ? error.message : String(error) }
    }
  }
  const failed = (error: string): void => env.log.warn('authorization server metadata fetch failed', { issuer, error })
  const source = JSON.stringify(['oauth metadata', env.describe(key).content, issuer, paths])
  const metadata = env.kept.held(source, () => new ServerMetadata(fetch, env.monotonic, failed))
  metadata.fetch = fetch
  return metadata
}

/** The values that replace members of the provider's metadata. */
interface AdaptedMembers {
  /** The URL of the resource, which clients use as the issuer. */
  issuer: string
  audience: string | null
  /** The URL of the gateway's client registration. */
  registration: string
  /** The URL of the gateway that adds the audience to a browser's authorization request. */
  authorization: string
}

/** Adapts authorization server metadata to what MCP clients can use. */
export function adaptMetadata(
  document: JsonObject,
  provider: IdentityProvider | null,
  { issuer, audience, registration, authorization }: AdaptedMembers,
): JsonObject {
  if (provider === null) return document
  // Responses of the provider name its own issuer, which differs from the one in the adapted metadata.
  const { authorization_response_iss_parameter_supported: _, ...rest } = document
  switch (provider) {
    case 'Auth0':
      // Auth0 issues opaque tokens without an audience, which MCP clients do not send.
      return { ...rest, issuer, ...(audience !== null && { authorization_endpoint: authorization }) }
    case 'Keycloak':
      // The registration endpoint of Keycloak does not allow requests from browsers (CORS).
      return { ...rest, issuer, ...('registration_endpoint' in rest && { registration_endpoint: registration }) }
  }
}

/**
 * Returns the URL where a browser signs in: the authorization endpoint with the client's query and the audience. The
 * metadata cannot name the audience itself, because some clients append their query to the endpoint with a second `?`.
 * Null when the document has no endpoint.
 */
export function authorizationUrl(
  { authorization_endpoint: endpoint }: JsonObject,
  query: string,
  audience: string,
): string | null {
  if (typeof endpoint !== 'string') return null
  const url = new URL(endpoint)
  for (const [name, value] of new URLSearchParams(query)) url.searchParams.append(name, value)
  if (!url.searchParams.has('audience')) url.searchParams.set('audience', audience)
  return url.href
}

const LIFETIME_MS = 300_000
/** The pause after a failed fetch: requests without a token must not flood the issuer. */
const PAUSE_MS = 5_000
const MAX_BYTES = 256 * 1024
const TIMEOUT_MS = 5_000
