import { parseBackendUrl, urlKey } from '../../formats/address.ts'
import { serverMetadataPaths } from '../../formats/well-known.ts'
import { fetchText } from '../../pipeline/callouts/fetch-text.ts'
import type { JsonObject } from '../../pipeline/context/request-context.ts'
import type { SpanPlace } from '../../pipeline/spans/request-spans.ts'
import type { Env } from '../../pipeline/context/step.ts'
import type { IdentityProvider } from './config.ts'
import { readMetadata } from './read-metadata.ts'

/** The metadata of one authorization server: one fetch at a time, kept for a while, and the last good one after that. */
export class ServerMetadata {
  /** The newest way to get it; a reload may bring another client for the same issuer. */
  fetch: (span: SpanPlace | null) => Promise<JsonObject>
  readonly #monotonic: () => number
  readonly #failed: (reason: string) => void
  #document: JsonObject | null = null
  #underWay: Promise<JsonObject | null> | null = null
  /** No fetch before this time. */
  #nextAt = -Infinity

  constructor(fetch: ServerMetadata['fetch'], monotonic: () => number, failed: (reason: string) => void) {
    this.fetch = fetch
    this.#monotonic = monotonic
    this.#failed = failed
  }

  /** Null when it cannot be had. `span` is where the call that fetches it hangs. */
  current(span: SpanPlace | null): JsonObject | null | Promise<JsonObject | null> {
    if (this.#underWay !== null) return this.#underWay
    if (this.#monotonic() < this.#nextAt) return this.#document
    this.#underWay = this.#run(span).finally(() => (this.#underWay = null))
    return this.#underWay
  }

  async #run(span: SpanPlace | null): Promise<JsonObject | null> {
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

/** All routes with the same issuer share it. */
export function sharedServerMetadata(issuer: string, provider: IdentityProvider | null, env: Env): ServerMetadata {
  const url = parseBackendUrl(issuer)
  if (url === null) throw new Error(`the issuer ${issuer} is no URL of a backend`)
  const key = urlKey(url)
  const client = env.client(key)
  const { oauth, openid } = serverMetadataPaths(url.path)
  const paths = provider === 'Keycloak' ? [openid, oauth] : [oauth, openid]
  const fetch = async (span: SpanPlace | null): Promise<JsonObject> => {
    let fault = ''
    for (const target of paths) {
      const found = await attempt(target, span)
      if ('document' in found) return found.document
      fault ||= found.fault
    }
    throw new Error(fault)
  }
  const attempt = async (target: string, span: SpanPlace | null): Promise<ReturnType<typeof readMetadata>> => {
    const options = { authority: url.authority, target, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, span }
    try {
      return readMetadata((await fetchText(client, options)).text, issuer)
    } catch (error) {
      return { fault: error instanceof Error ? error.message : String(error) }
    }
  }
  const failed = (error: string): void =>
    env.log.warn('metadata of the authorization server not fetched', { issuer, error })
  const source = JSON.stringify(['oauth metadata', env.describe(key).content, issuer, paths])
  const metadata = env.kept.held(source, () => new ServerMetadata(fetch, env.monotonic, failed))
  metadata.fetch = fetch
  return metadata
}

export interface AdaptedTo {
  /** The URL that the client asked about, which it takes for the issuer. */
  issuer: string
  audience: string | null
  /** URL where clients register with the gateway. */
  registration: string
  /** URL of the gateway where it adds the audience to a browser's authorization request. */
  authorization: string
}

/** Authorization server metadata in the form that clients can use. */
export function adaptMetadata(
  document: JsonObject,
  provider: IdentityProvider | null,
  { issuer, audience, registration, authorization }: AdaptedTo,
): JsonObject {
  if (provider === null) return document
  // Answers of the provider would name its own issuer, which is not the one that clients then know.
  const { authorization_response_iss_parameter_supported: _, ...rest } = document
  switch (provider) {
    case 'Auth0':
      // Without an audience its tokens are opaque, and clients of MCP ask for none.
      return { ...rest, issuer, ...(audience !== null && { authorization_endpoint: authorization }) }
    case 'Keycloak':
      // Its registration answers no browser.
      return { ...rest, issuer, ...('registration_endpoint' in rest && { registration_endpoint: registration }) }
  }
}

/**
 * The URL where a browser signs in: the authorization endpoint with the client's query and the audience. The
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
/** Clients ask without a token: they must not turn into a flood at the issuer's door. */
const PAUSE_MS = 5_000
const MAX_BYTES = 256 * 1024
const TIMEOUT_MS = 5_000
