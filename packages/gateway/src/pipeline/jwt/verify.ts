import { parseSafely } from '@portico/cel'
import { LRUCache } from 'lru-cache'
import type { JsonObject } from '../request-context.ts'
import type { SpanPlace } from '../spans/request-spans.ts'
import type { KeySet, VerificationKey } from '../../state/key-set.ts'

/** The keys of an issuer: fixed, or fetched. */
export interface KeySource {
  /** `span` is where the call that fetches them hangs. */
  current(span?: SpanPlace | null): KeySet | null | Promise<KeySet | null>
  /** After a token named a key that is not there; null when there is nothing newer to be had. */
  renewed(span?: SpanPlace | null): Promise<KeySet | null> | null
}

export interface Issuer {
  issuer: string
  audiences: readonly string[] | null
  keys: KeySource
}

/** The claims of a token, or what is wrong with it, in words that hold nothing of the token. */
export type Verdict = { claims: JsonObject } | { fault: string }

/** Verifies tokens. One that was verified stays so until it expires or the keys change, without any more work. */
export class TokenVerifier {
  readonly #issuersByName: Map<string, Issuer[]>
  readonly #clock: () => number
  readonly #verified = new LRUCache<string, VerifiedToken>({
    maxSize: CACHE_CHARACTERS,
    // Claims are about as long as the token, and twice as large in memory.
    sizeCalculation: (_, token) => token.length * 3,
  })
  readonly #underWay = new Map<string, Promise<Verdict>>()

  constructor(issuers: readonly Issuer[], clock: () => number) {
    this.#issuersByName = Map.groupBy(issuers, ({ issuer }) => issuer)
    this.#clock = clock
  }

  check(token: string, span: SpanPlace | null = null): Verdict | Promise<Verdict> {
    if (token.length > MAX_TOKEN) return TOO_LONG
    const known = this.#verified.get(token)
    if (known !== undefined && known.expiresAt > this.#clock() && known.source.current(span) === known.keys)
      return known
    return this.#underWay.get(token) ?? this.#checkOnce(token, span)
  }

  #checkOnce(token: string, span: SpanPlace | null): Promise<Verdict> {
    const verdict = this.#verify(token, span).finally(() => this.#underWay.delete(token))
    this.#underWay.set(token, verdict)
    return verdict
  }

  async #verify(token: string, span: SpanPlace | null): Promise<Verdict> {
    const parsed = parse(token)
    if (parsed === null) return { fault: 'the token is malformed' }
    if (parsed.isCritical) return { fault: 'the token has extensions that are not supported' }
    // What the token says is used to choose its issuer only, and verified below.
    const issuers = this.#issuersByName.get(parsed.issuer)
    if (issuers === undefined) return { fault: 'the issuer of the token is not known' }
    let fault = ''
    for (const issuer of issuers) {
      const verdict = await this.#verifyWith(issuer, token, parsed, span)
      if ('claims' in verdict) return verdict
      fault ||= verdict.fault
    }
    return { fault }
  }

  async #verifyWith(
    issuer: Issuer,
    token: string,
    { kid, alg }: ParsedToken,
    span: SpanPlace | null,
  ): Promise<Verdict> {
    let keys = await issuer.keys.current(span)
    let candidates = keys?.find(kid) ?? []
    if (candidates.length === 0 && kid !== null) {
      const renewed = issuer.keys.renewed(span)
      if (renewed !== null) keys = await renewed
      candidates = keys?.find(kid) ?? []
    }
    if (keys === null) return { fault: 'signing keys are not available' }
    if (candidates.length === 0) {
      return { fault: kid === null ? 'the token does not name its key' : 'the key of the token is not known' }
    }
    let fault = 'the algorithm of the token does not fit its key'
    for (const key of candidates) {
      if (!key.algorithms.includes(alg)) continue
      const verdict = await this.#verifySignature(token, key, issuer)
      if ('fault' in verdict) fault = verdict.fault
      else return this.#remember(token, { ...verdict, keys, source: issuer.keys })
    }
    return { fault }
  }

  async #verifySignature(
    token: string,
    { key, algorithms }: VerificationKey,
    { issuer, audiences }: Issuer,
  ): Promise<{ claims: JsonObject; expiresAt: number } | { fault: string }> {
    try {
      // Loaded when the first token comes: most gateways start faster without it.
      const { jwtVerify } = await import('jose')
      const { payload } = await jwtVerify(token, key, {
        algorithms: [...algorithms],
        issuer,
        ...(audiences !== null && { audience: [...audiences] }),
        clockTolerance: LEEWAY_SECONDS,
        requiredClaims: ['exp'],
        currentDate: new Date(this.#clock()),
      })
      // It is required, so there is one.
      return { claims: payload, expiresAt: ((payload.exp ?? 0) + LEEWAY_SECONDS) * 1000 }
    } catch (error) {
      return { fault: faultOf(error) }
    }
  }

  #remember(token: string, verified: VerifiedToken): Verdict {
    this.#verified.set(token, verified)
    return verified
  }
}

interface VerifiedToken {
  claims: JsonObject
  /** Milliseconds since 1970. */
  expiresAt: number
  keys: KeySet
  source: KeySource
}

interface ParsedToken {
  kid: string | null
  alg: string
  issuer: string
  isCritical: boolean
}

function parse(token: string): ParsedToken | null {
  const [head = '', body = '', signature, ...rest] = token.split('.')
  if (signature === undefined || rest.length > 0) return null
  const header = decode(head)
  const claims = decode(body)
  const { kid = null, alg, crit } = header ?? {}
  const issuer = claims?.['iss']
  if ((kid !== null && typeof kid !== 'string') || typeof alg !== 'string' || typeof issuer !== 'string') return null
  return { kid, alg, issuer, isCritical: crit !== undefined }
}

function decode(part: string): JsonObject | null {
  try {
    const value: unknown = parseSafely(Buffer.from(part, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null
  } catch {
    return null
  }
}

function faultOf(error: unknown): string {
  const { code = '', claim = '' } = error as { code?: string; claim?: string }
  switch (code) {
    case 'ERR_JWT_EXPIRED':
      return 'the token has expired'
    case 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED':
      return 'the signature of the token is wrong'
    case 'ERR_JWT_CLAIM_VALIDATION_FAILED':
      return FAULT_BY_CLAIM[claim] ?? 'a claim of the token is not acceptable'
    default:
      return 'the token is malformed'
  }
}

const FAULT_BY_CLAIM: Readonly<Record<string, string>> = {
  exp: 'the token does not say when it expires',
  nbf: 'the token is not valid yet',
  aud: 'the token is for another audience',
  iss: 'the issuer of the token is not known',
}

/** Clocks of issuers and gateways differ. */
const LEEWAY_SECONDS = 60
const MAX_TOKEN = 16 * 1024
const TOO_LONG: Verdict = { fault: 'the token is too long' }
const CACHE_CHARACTERS = 8 * 1024 * 1024
