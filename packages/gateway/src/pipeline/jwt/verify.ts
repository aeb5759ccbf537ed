import { isObject } from '@portico/http/json'
import { parseSafely } from '@portico/cel'
import { LRUCache } from 'lru-cache'
import type { JsonObject } from '../context/request-context.ts'
import type { SpanParent } from '../spans/request-spans.ts'
import type { KeySet, VerificationKey } from '../../state/key-set.ts'

/** The keys of an issuer, from the config or fetched. */
export interface KeySource {
  /** `span` is the parent of the span of the call that fetches the keys. */
  current(span?: SpanParent | null): KeySet | null | Promise<KeySet | null>
  /** Fetches the keys again after a token named an unknown key; null when no newer keys can be fetched. */
  renewed(span?: SpanParent | null): Promise<KeySet | null> | null
}

export interface Issuer {
  issuer: string
  audiences: readonly string[] | null
  keys: KeySource
}

/** The check of a token that failed. */
type TokenCheck =
  | 'no_token'
  | 'several_tokens'
  | 'too_long'
  | 'malformed'
  | 'unknown_extension'
  | 'unknown_issuer'
  | 'keys_unavailable'
  | 'no_key_id'
  | 'unknown_key'
  | 'wrong_algorithm'
  | 'wrong_signature'
  | 'expired'
  | 'no_expiry'
  | 'not_yet_valid'
  | 'wrong_audience'
  | 'wrong_claim'

/** Parts of a denied token for explanations; the token cannot be rebuilt from them. */
interface SeenToken {
  issuer?: string
  audience?: string
  keyId?: string
  algorithm?: string
  expiresAt?: number
  notBefore?: number
}

/** The problem of a token; `fault` contains no part of the token. */
export interface TokenProblem {
  check: TokenCheck
  fault: string
  seen?: SeenToken
}

/** The claims of a token, or its problem. */
export type Verdict = { claims: JsonObject } | TokenProblem

/** Verifies tokens, and caches verified tokens until they expire or the keys change. */
export class TokenVerifier {
  readonly #issuersByName: Map<string, Issuer[]>
  readonly #clock: () => number
  readonly #verified = new LRUCache<string, VerifiedToken>({
    maxSize: CACHE_CHARACTERS,
    // The claims are about as long as the token and take twice the memory.
    sizeCalculation: (_, token) => token.length * 3,
  })
  readonly #underWay = new Map<string, Promise<Verdict>>()

  constructor(issuers: readonly Issuer[], clock: () => number) {
    this.#issuersByName = Map.groupBy(issuers, ({ issuer }) => issuer)
    this.#clock = clock
  }

  check(token: string, span: SpanParent | null = null): Verdict | Promise<Verdict> {
    if (token.length > MAX_TOKEN) return TOO_LONG
    const known = this.#verified.get(token)
    if (known !== undefined && known.expiresAt > this.#clock() && known.source.current(span) === known.keys)
      return known
    return this.#underWay.get(token) ?? this.#checkOnce(token, span)
  }

  #checkOnce(token: string, span: SpanParent | null): Promise<Verdict> {
    const verdict = this.#verify(token, span).finally(() => this.#underWay.delete(token))
    this.#underWay.set(token, verdict)
    return verdict
  }

  async #verify(token: string, span: SpanParent | null): Promise<Verdict> {
    const parsed = parse(token)
    if (parsed === null) return problem('malformed')
    const { seen } = parsed
    if (parsed.isCritical) return { ...problem('unknown_extension'), seen }
    // The issuer in the token is not verified yet; it only selects the keys for the verification below.
    const issuers = this.#issuersByName.get(parsed.issuer)
    let first: TokenProblem | null = null
    for (const issuer of issuers ?? []) {
      const verdict = await this.#verifyWith(issuer, token, parsed, span)
      if ('claims' in verdict) return verdict
      first ??= verdict
    }
    return { ...(first ?? problem('unknown_issuer')), seen }
  }

  async #verifyWith(
    issuer: Issuer,
    token: string,
    { kid, alg }: ParsedToken,
    span: SpanParent | null,
  ): Promise<Verdict> {
    let keys = await issuer.keys.current(span)
    let candidates = keys?.find(kid) ?? []
    if (candidates.length === 0 && kid !== null) {
      const renewed = issuer.keys.renewed(span)
      if (renewed !== null) keys = await renewed
      candidates = keys?.find(kid) ?? []
    }
    if (keys === null) return problem('keys_unavailable')
    if (candidates.length === 0) return problem(kid === null ? 'no_key_id' : 'unknown_key')
    let fault = problem('wrong_algorithm')
    for (const key of candidates) {
      if (!key.algorithms.includes(alg)) continue
      const verdict = await this.#verifySignature(token, key, issuer)
      if ('fault' in verdict) fault = verdict
      else return this.#remember(token, { ...verdict, keys, source: issuer.keys })
    }
    return fault
  }

  async #verifySignature(
    token: string,
    { key, algorithms }: VerificationKey,
    { issuer, audiences }: Issuer,
  ): Promise<{ claims: JsonObject; expiresAt: number } | TokenProblem> {
    try {
      // Loaded with the first token, because a gateway without tokens starts faster without the library.
      const { jwtVerify } = await import('jose')
      const { payload } = await jwtVerify(token, key, {
        algorithms: [...algorithms],
        issuer,
        ...(audiences !== null && { audience: [...audiences] }),
        clockTolerance: LEEWAY_SECONDS,
        requiredClaims: ['exp'],
        currentDate: new Date(this.#clock()),
      })
      // `exp` is a required claim, so it is present.
      return { claims: payload, expiresAt: ((payload.exp ?? 0) + LEEWAY_SECONDS) * 1000 }
    } catch (error) {
      return problem(failedCheck(error))
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
  seen: SeenToken
}

function parse(token: string): ParsedToken | null {
  const [head = '', body = '', signature, ...rest] = token.split('.')
  if (signature === undefined || rest.length > 0) return null
  const header = decode(head)
  const claims = decode(body)
  const { kid = null, alg, crit } = header ?? {}
  const issuer = claims?.['iss']
  if ((kid !== null && typeof kid !== 'string') || typeof alg !== 'string' || typeof issuer !== 'string') return null
  const seen = seenIn(claims ?? {}, { kid, alg })
  return { kid, alg, issuer, isCritical: crit !== undefined, seen }
}

/** Returns the public claims of a token, each cut to a maximum length. */
function seenIn({ iss, aud, exp, nbf }: JsonObject, { kid, alg }: { kid: string | null; alg: string }): SeenToken {
  const audience = Array.isArray(aud) ? aud.filter((one) => typeof one === 'string').join(' ') : aud
  return {
    algorithm: alg.slice(0, 16),
    ...(kid !== null && { keyId: kid.slice(0, MAX_SEEN) }),
    ...(typeof iss === 'string' && { issuer: iss.slice(0, MAX_SEEN) }),
    ...(typeof audience === 'string' && { audience: audience.slice(0, MAX_SEEN) }),
    ...(typeof exp === 'number' && { expiresAt: exp }),
    ...(typeof nbf === 'number' && { notBefore: nbf }),
  }
}

function decode(part: string): JsonObject | null {
  try {
    const value: unknown = parseSafely(Buffer.from(part, 'base64url').toString('utf8'))
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

function failedCheck(error: unknown): TokenCheck {
  const { code = '', claim = '' } = error as { code?: string; claim?: string }
  switch (code) {
    case 'ERR_JWT_EXPIRED':
      return 'expired'
    case 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED':
      return 'wrong_signature'
    case 'ERR_JWT_CLAIM_VALIDATION_FAILED':
      return CHECK_BY_CLAIM[claim] ?? 'wrong_claim'
    default:
      return 'malformed'
  }
}

const CHECK_BY_CLAIM: Readonly<Record<string, TokenCheck>> = {
  exp: 'no_expiry',
  nbf: 'not_yet_valid',
  aud: 'wrong_audience',
  iss: 'unknown_issuer',
}

/** The texts for logs and clients. */
const FAULTS: Readonly<Record<TokenCheck, string>> = {
  no_token: 'no bearer token found',
  several_tokens: 'more than one token found',
  too_long: 'the token is too long',
  malformed: 'the token is malformed',
  unknown_extension: 'the token has extensions that are not supported',
  unknown_issuer: 'the issuer of the token is not known',
  keys_unavailable: 'signing keys are not available',
  no_key_id: 'the token does not name its key',
  unknown_key: 'the key of the token is not known',
  wrong_algorithm: 'the algorithm of the token does not match its key',
  wrong_signature: 'the signature of the token is wrong',
  expired: 'the token has expired',
  no_expiry: 'the token does not say when it expires',
  not_yet_valid: 'the token is not valid yet',
  wrong_audience: 'the token is for another audience',
  wrong_claim: 'a claim of the token is not acceptable',
}

export function problem(check: TokenCheck): TokenProblem {
  return { check, fault: FAULTS[check] }
}

/** Tolerance for differences between the clocks of issuers and gateways. */
const LEEWAY_SECONDS = 60
const MAX_TOKEN = 16 * 1024
const TOO_LONG: Verdict = problem('too_long')
/** The most characters of each shown part of a token. */
const MAX_SEEN = 200
const CACHE_CHARACTERS = 8 * 1024 * 1024
