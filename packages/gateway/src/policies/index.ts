import type { PoliciesOf, Policy } from '../schema/define-policy.ts'
import { http as backendHttp } from './backend/http/schema.ts'
import { tcp as backendTcp } from './backend/tcp/schema.ts'
import { tls as backendTls } from './backend/tls/schema.ts'
import { forwardedHeaders } from './frontend/forwarded-headers/schema.ts'
import { http as frontendHttp } from './frontend/http/schema.ts'
import { proxyProtocol } from './frontend/proxy-protocol/schema.ts'
import { tcp as frontendTcp } from './frontend/tcp/schema.ts'
import { tls as frontendTls } from './frontend/tls/schema.ts'
import { cors } from './traffic/cors/schema.ts'
import { directResponse } from './traffic/direct-response/schema.ts'
import { headerModifiers } from './traffic/header-modifiers/schema.ts'
import { hostRewrite } from './traffic/host-rewrite/schema.ts'
import { requestMirror } from './traffic/request-mirror/schema.ts'
import { requestRedirect } from './traffic/request-redirect/schema.ts'
import { retry } from './traffic/retry/schema.ts'
import { timeouts } from './traffic/timeouts/schema.ts'
import { upgrades } from './traffic/upgrades/schema.ts'
import { urlRewrite } from './traffic/url-rewrite/schema.ts'

/** Handling of incoming connections. */
export const frontendPolicies = [frontendTcp, frontendTls, frontendHttp, proxyProtocol, forwardedHeaders] as const

/** Handling of requests, with the filters that only routes have. */
export const trafficPolicies = [
  cors,
  directResponse,
  headerModifiers,
  hostRewrite,
  requestMirror,
  requestRedirect,
  retry,
  timeouts,
  upgrades,
  urlRewrite,
] as const

/** Handling of connections to backends. */
export const backendPolicies = [backendTcp, backendTls, backendHttp] as const

export const allPolicies: readonly Policy[] = [...frontendPolicies, ...trafficPolicies, ...backendPolicies]

export type FrontendPolicies = PoliciesOf<typeof frontendPolicies>
export type TrafficPolicies = PoliciesOf<typeof trafficPolicies>
export type BackendPolicies = PoliciesOf<typeof backendPolicies>
