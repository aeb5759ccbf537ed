import { HeaderBlock } from '@portico/http'
import { authorizationPath, readDiscoveryPath, registrationPath } from '../../formats/well-known.ts'
import type { TokenFault } from '../../pipeline/jwt/authenticate.ts'
import { Reply } from '../../pipeline/context/reply.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { Env } from '../../pipeline/context/step.ts'
import { type Methods, jsonAnswer, methodAnswer, problemAnswer } from './answers.ts'
import { createChallenges } from './challenge.ts'
import type { OauthConfig } from './config.ts'
import { createRegistration } from './registration.ts'
import { createResource } from './resource.ts'
import { adaptMetadata, authorizationUrl, sharedServerMetadata } from './server-metadata.ts'

/** The discovery endpoints and challenges that an authentication policy provides for MCP clients. */
interface Oauth {
  /**
   * Serves a request for a discovery document, which needs no token. Returns undefined for other requests, and prepares
   * the challenge that a later step may send.
   */
  readonly serve: (rx: RequestContext) => Reply | Promise<Reply> | undefined
  /** Returns the 401 response that leads a client without a valid token to the documents. */
  readonly challenge: (rx: RequestContext, fault: TokenFault) => Reply
}

export function createOauth(config: OauthConfig, env: Env): Oauth {
  const { provider = null } = config
  const [first] = config.issuers
  if (first === undefined) throw new Error('the OAuth config has no issuer')
  const { issuer, audiences } = first
  const audience = audiences?.[0] ?? null
  const resource = createResource(config)
  const metadata = sharedServerMetadata(issuer, provider, env)
  const register = provider === 'Keycloak' ? createRegistration(issuer, env) : null

  async function serverMetadata(rx: RequestContext, identifier: string, origin: string): Promise<Reply> {
    const document = await metadata.current(rx.spans === null ? null : rx.spans.parentFor('oauth'))
    if (document === null) return problemAnswer(rx, 502, 'the authorization server is unavailable')
    const registration = origin + registrationPath(rx.path)
    const authorization = origin + authorizationPath(rx.path)
    const adapted = { issuer: identifier, audience, registration, authorization }
    return jsonAnswer(200, adaptMetadata(document, provider, adapted), READING)
  }

  async function authorize(rx: RequestContext): Promise<Reply> {
    if (provider !== 'Auth0' || audience === null)
      return problemAnswer(rx, 404, 'this gateway has no authorization endpoint')
    const document = await metadata.current(rx.spans === null ? null : rx.spans.parentFor('oauth'))
    const location = document === null ? null : authorizationUrl(document, rx.query, audience)
    if (location === null) return problemAnswer(rx, 502, 'the authorization server is unavailable')
    const headers = HeaderBlock.of([
      ['location', location],
      ['cache-control', 'no-store'],
    ])
    return new Reply(302, { headers, reason: 'DirectResponse' })
  }

  const { unauthorized, insufficientScope } = createChallenges(config, resource)
  return {
    challenge: unauthorized,
    serve(rx) {
      const discovery = readDiscoveryPath(rx.path)
      if (discovery === null) {
        rx.scopeChallenge = insufficientScope
        return undefined
      }
      // A shadow policy calls no identity provider, because the call might register a client.
      if (env.isShadow) return new Reply(200, { reason: 'DirectResponse' })
      if (rx.trace !== null) rx.trace.note({ code: 'oauth_discovery', document: discovery.document })
      if (discovery.document === 'registration') {
        if (register === null) return problemAnswer(rx, 404, 'this gateway has no client registration')
        return methodAnswer(rx, REGISTERING) ?? register(rx)
      }
      const other = methodAnswer(rx, READING)
      if (other !== null) return other
      if (discovery.document === 'authorization') return authorize(rx)
      const origin = resource.originOf(rx)
      if (origin === null) return problemAnswer(rx, 400, 'the request has no valid host')
      const identifier = origin + discovery.resource
      if (discovery.document === 'resource') return jsonAnswer(200, resource.metadata(identifier), READING)
      return serverMetadata(rx, identifier, origin)
    },
  }
}

const READING: Methods = ['GET', 'HEAD']
const REGISTERING: Methods = ['POST']
