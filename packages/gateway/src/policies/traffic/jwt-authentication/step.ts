import { createHash } from 'node:crypto'
import { credentialReader, SEVERAL } from '../../../pipeline/credential.ts'
import { refuseCredential } from '../../../pipeline/refuse-credential.ts'
import type { Reply } from '../../../pipeline/reply.ts'
import type { Rx } from '../../../pipeline/request.ts'
import { type Env, implement } from '../../../pipeline/step.ts'
import { fixedKeySource, remoteKeySource } from './keys.ts'
import type { JwtAuthenticationConfig } from './schema.ts'
import { TokenVerifier, type Verdict } from './verify.ts'

export const jwtAuthentication = implement<JwtAuthenticationConfig>((config, env) => {
  const { mode, location = BEARER } = config
  const reader = credentialReader(location)
  const verifier = sharedVerifier(config, env)

  function conclude(rx: Rx, token: string, verdict: Verdict): Reply | void {
    if ('fault' in verdict) return refuse(rx, verdict.fault, 'invalid_token')
    reader.remove(rx)
    rx.jwt = verdict.claims
    rx.clientToken = token
    if (rx.trace !== null) rx.trace.note({ code: 'jwt_verified', issuer: verdict.claims['iss'] })
  }

  function refuse(rx: Rx, reason: string, error: string | null): Reply | void {
    if (mode === 'Permissive') {
      if (rx.trace !== null) rx.trace.skipped(reason)
      return
    }
    if (rx.trace !== null) rx.trace.note({ code: 'jwt_refused', reason })
    const message = `jwt authentication failure: ${reason}`
    const challenge = error === null ? 'Bearer' : `Bearer error="${error}"`
    return refuseCredential(rx, { status: 401, message, reason: 'JwtAuth' }, ['www-authenticate', challenge])
  }

  return {
    request(rx) {
      const token = reader.read(rx)
      if (token === SEVERAL) return refuse(rx, 'more than one token found', 'invalid_request')
      if (token === null) {
        if (mode === 'Strict') return refuse(rx, 'no bearer token found', null)
        if (rx.trace !== null) rx.trace.skipped('no bearer token found')
        return
      }
      const verdict = verifier.check(token)
      if (verdict instanceof Promise) return verdict.then((known) => conclude(rx, token, known))
      return conclude(rx, token, verdict)
    },
  }
})

/** All routes with the same issuers share what was verified. */
function sharedVerifier({ providers }: JwtAuthenticationConfig, env: Env): TokenVerifier {
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

const BEARER = { header: { name: 'authorization', prefix: 'Bearer ' } }
