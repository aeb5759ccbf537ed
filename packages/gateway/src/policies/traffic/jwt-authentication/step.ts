import { createOauth } from '../../../mcp/oauth/oauth.ts'
import { type TokenFault, tokenCheck } from '../../../pipeline/jwt/authenticate.ts'
import { refuseCredential } from '../../../pipeline/policy/refuse-credential.ts'
import type { Reply } from '../../../pipeline/context/reply.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import { implement } from '../../../pipeline/context/step.ts'
import type { JwtAuthenticationConfig } from './schema.ts'

export const jwtAuthentication = implement<JwtAuthenticationConfig>((config, env) => {
  const { mcp, providers } = config
  if (mcp === undefined) return { request: tokenCheck(config, env, refuse) }
  const oauth = createOauth({ ...mcp, issuers: providers }, env)
  const check = tokenCheck(config, env, oauth.challenge)
  return { request: (rx) => oauth.serve(rx) ?? check(rx) }
})

function refuse(rx: RequestContext, { reason, error }: TokenFault): Reply {
  const message = `jwt authentication failure: ${reason}`
  const challenge = error === null ? 'Bearer' : `Bearer error="${error}"`
  return refuseCredential(rx, { status: 401, message, reason: 'JwtAuth' }, ['www-authenticate', challenge])
}
