import type { DecidingOf, JoinedOf, PoliciesOf, Policy } from '../schema/define-policy.ts'
import { auth } from './backend/auth/schema.ts'
import { health } from './backend/health/schema.ts'
import { extAuth as backendExtAuth } from './backend/ext-auth/schema.ts'
import { ai as backendAi } from './backend/ai/schema.ts'
import { http as backendHttp } from './backend/http/schema.ts'
import { mcp as backendMcp } from './backend/mcp/schema.ts'
import { prices } from './backend/prices/schema.ts'
import { retryBudget } from './backend/retry-budget/schema.ts'
import { sessionPersistence as backendSessionPersistence } from './backend/session-persistence/schema.ts'
import { tcp as backendTcp } from './backend/tcp/schema.ts'
import { tls as backendTls } from './backend/tls/schema.ts'
import { transformation as backendTransformation } from './backend/transformation/schema.ts'
import { tunnel } from './backend/tunnel/schema.ts'
import { urlRewrite as backendUrlRewrite } from './backend/url-rewrite/schema.ts'
import { accessLog } from './frontend/access-log/schema.ts'
import { forwardedHeaders } from './frontend/forwarded-headers/schema.ts'
import { http as frontendHttp } from './frontend/http/schema.ts'
import { metrics } from './frontend/metrics/schema.ts'
import { networkAuthorization } from './frontend/network-authorization/schema.ts'
import { proxyProtocol } from './frontend/proxy-protocol/schema.ts'
import { recorder } from './frontend/recorder/schema.ts'
import { requestId } from './frontend/request-id/schema.ts'
import { tracing } from './frontend/tracing/schema.ts'
import { tcp as frontendTcp } from './frontend/tcp/schema.ts'
import { tls as frontendTls } from './frontend/tls/schema.ts'
import { udp as frontendUdp } from './frontend/udp/schema.ts'
import { abort } from './traffic/abort/schema.ts'
import { apiKeyAuthentication } from './traffic/api-key-authentication/schema.ts'
import { authorization } from './traffic/authorization/schema.ts'
import { basicAuthentication } from './traffic/basic-authentication/schema.ts'
import { budget } from './traffic/budget/schema.ts'
import { cors } from './traffic/cors/schema.ts'
import { csrf } from './traffic/csrf/schema.ts'
import { delay } from './traffic/delay/schema.ts'
import { directResponse } from './traffic/direct-response/schema.ts'
import { extAuth } from './traffic/ext-auth/schema.ts'
import { extProc } from './traffic/ext-proc/schema.ts'
import { headerModifiers } from './traffic/header-modifiers/schema.ts'
import { hostRewrite } from './traffic/host-rewrite/schema.ts'
import { jwtAuthentication } from './traffic/jwt-authentication/schema.ts'
import { mcpAuthentication } from './traffic/mcp-authentication/schema.ts'
import { rateLimit } from './traffic/rate-limit/schema.ts'
import { requestMirror } from './traffic/request-mirror/schema.ts'
import { requestRedirect } from './traffic/request-redirect/schema.ts'
import { retry } from './traffic/retry/schema.ts'
import { sessionPersistence } from './traffic/session-persistence/schema.ts'
import { timeouts } from './traffic/timeouts/schema.ts'
import { transformation } from './traffic/transformation/schema.ts'
import { upgrades } from './traffic/upgrades/schema.ts'
import { urlRewrite } from './traffic/url-rewrite/schema.ts'

/** Handling of incoming connections. */
export const frontendPolicies = [
  frontendTcp,
  frontendUdp,
  networkAuthorization,
  frontendTls,
  frontendHttp,
  proxyProtocol,
  forwardedHeaders,
  accessLog,
  tracing,
  metrics,
  recorder,
  requestId,
] as const

/** Handling of requests, with the filters that only routes have. */
export const trafficPolicies = [
  abort,
  apiKeyAuthentication,
  authorization,
  basicAuthentication,
  budget,
  cors,
  csrf,
  delay,
  directResponse,
  extAuth,
  extProc,
  headerModifiers,
  hostRewrite,
  jwtAuthentication,
  mcpAuthentication,
  rateLimit,
  requestMirror,
  requestRedirect,
  retry,
  sessionPersistence,
  timeouts,
  transformation,
  upgrades,
  urlRewrite,
] as const

/** Handling of connections to backends. */
export const backendPolicies = [
  backendTcp,
  backendTls,
  backendHttp,
  tunnel,
  backendExtAuth,
  auth,
  backendUrlRewrite,
  backendTransformation,
  health,
  retryBudget,
  backendSessionPersistence,
  backendAi,
  prices,
  backendMcp,
] as const

export const allPolicies: readonly Policy[] = [...frontendPolicies, ...trafficPolicies, ...backendPolicies]

export type FrontendPolicies = PoliciesOf<typeof frontendPolicies>
export type TrafficPolicies = PoliciesOf<typeof trafficPolicies>
export type BackendPolicies = PoliciesOf<typeof backendPolicies>

export type JoinedTraffic = JoinedOf<typeof trafficPolicies>

/**
 * The policies under `shadow` of a listener or a route, which run next to the enforced policies without an effect on
 * requests.
 */
export type ShadowPolicies = Pick<TrafficPolicies, DecidingOf<typeof trafficPolicies>>
export type FrontendShadows = Pick<FrontendPolicies, DecidingOf<typeof frontendPolicies>>
/** The policies for connections at one attachment point, with their shadow policies. */
export type AttachedFrontend = FrontendPolicies & { shadow?: FrontendShadows }
/** The traffic policies at one attachment point, with their shadow policies. */
export type AttachedTraffic = TrafficPolicies & { shadow?: ShadowPolicies }
