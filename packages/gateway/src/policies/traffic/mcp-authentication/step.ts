import { defaultKeys } from '../../../mcp/oauth/default-keys.ts'
import { createOauth } from '../../../mcp/oauth/oauth.ts'
import { tokenCheck } from '../../../pipeline/jwt/authenticate.ts'
import { implement } from '../../../pipeline/step.ts'
import type { McpAuthenticationConfig } from './schema.ts'

export const mcpAuthentication = implement<McpAuthenticationConfig>((config, env) => {
  const { mode, issuer, audiences, provider, resourceMetadata } = config
  const issuers = [{ issuer, audiences, jwks: config.jwks ?? defaultKeys(issuer, provider) }]
  const oauth = createOauth({ issuers, provider, resourceMetadata }, env)
  const check = tokenCheck({ mode, providers: issuers }, env, oauth.challenge)
  return { request: (rx) => oauth.serve(rx) ?? check(rx) }
})
