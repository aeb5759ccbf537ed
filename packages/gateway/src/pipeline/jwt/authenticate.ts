import { createHash } from 'node:crypto'
import { type CredentialLocation, credentialReader, SEVERAL } from '../policy/credential.ts'
import type { Reply } from '../context/reply.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { Env, StepResult } from '../context/step.ts'
import { fixedKeySource, type KeysConfig, remoteKeySource } from './keys.ts'
import { problem, type TokenProblem, TokenVerifier, type Verdict } from './verify.ts'

/** An issuer whose tokens are accepted. */
interface IssuerConfig {
  issuer: string
  audiences?: readonly string[] | undefined
  jwks: KeysConfig
}

interface TokenCheckConfig {
  mode: 'Strict' | 'Optional' | 'Permissive' | 'Shadow'
  /** `Authorization: Bearer` when unset. */
  location?: CredentialLocation | undefined
  providers: readonly IssuerConfig[]
}

/** The problem of a token. `reason` contains no part of the token; `error` is the code of RFC 6750, null without a token. */
export interface TokenFault {
  reason: string
  error: 'invalid_token' | 'invalid_request' | null
}

/** Returns a step that checks the token of each request; `refuse` makes the reply to a request without a valid token. */
export function tokenCheck(
  { mode, location = BEARER, providers }: TokenCheckConfig,
  env: Env,
  refuse: (rx: RequestContext, fault: TokenFault) => Reply,
): (rx: RequestContext) => StepResult {
  const reader = credentialReader(location)
  const verifier = sharedVerifier(providers, env)

  function conclude(rx: RequestContext, token: string, verdict: Verdict): Reply | void {
    if ('fault' in verdict) return fail(rx, verdict, 'invalid_token')
    rx.taken = [...rx.taken, reader.remove(rx)]
    rx.jwt = verdict.claims
    rx.clientToken = token
    if (rx.trace !== null) rx.trace.note({ code: 'jwt_verified', issuer: verdict.claims['iss'] })
  }

  function fail(rx: RequestContext, { check, fault, seen }: TokenProblem, error: TokenFault['error']): Reply | void {
    if (mode === 'Permissive') {
      if (rx.trace !== null) rx.trace.skipped(fault)
      return
    }
    rx.note({ code: 'jwt_refused', check, reason: fault, ...seen })
    return refuse(rx, { reason: fault, error })
  }

  return (rx) => {
    const token = reader.read(rx)
    if (token === SEVERAL) return fail(rx, problem('several_tokens'), 'invalid_request')
    if (token === null) {
      if (mode === 'Strict' || mode === 'Shadow') return fail(rx, problem('no_token'), null)
      if (rx.trace !== null) rx.trace.skipped(problem('no_token').fault)
      return
    }
    const verdict = verifier.check(token, rx.spans === null ? null : rx.spans.parentFor('jwks'))
    if (verdict instanceof Promise) return verdict.then((known) => conclude(rx, token, known))
    return conclude(rx, token, verdict)
  }
}

/** Returns the verifier, with its cache of verified tokens, that all routes with the same issuers share. */
function sharedVerifier(providers: readonly IssuerConfig[], env: Env): TokenVerifier {
  const remotes = providers.map(({ jwks }) => remoteKeySource(jwks, env))
  const backends = providers.map(({ jwks }) => jwks.url?.backend ?? jwks.remote?.backendRef.name ?? null)
  const contents = backends.map((key) => (key === null ? null : env.describe(key).content))
  const digest = createHash('sha256')
    .update(JSON.stringify([providers, contents]))
    .digest('base64')
  const { clock, kept } = env
  return kept.shared(`jwt ${digest}`, () => {
    const issuers = providers.map(({ issuer, audiences = null, jwks }, index) => ({
      issuer,
      audiences,
      keys: remotes[index] ?? fixedKeySource(jwks),
    }))
    return new TokenVerifier(issuers, clock)
  })
}

const BEARER: CredentialLocation = { header: { name: 'authorization', prefix: 'Bearer ' } }
