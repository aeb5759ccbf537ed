import type { MakeStep, RequestStep } from '../pipeline/step.ts'
import type { JoinedTraffic, TrafficPolicies } from './index.ts'
import { apiKeyAuthentication } from './traffic/api-key-authentication/step.ts'
import { authorization } from './traffic/authorization/step.ts'
import { basicAuthentication } from './traffic/basic-authentication/step.ts'
import { cors } from './traffic/cors/step.ts'
import { csrf } from './traffic/csrf/step.ts'
import { directResponse } from './traffic/direct-response/step.ts'
import { headerModifiers } from './traffic/header-modifiers/step.ts'
import { hostRewrite } from './traffic/host-rewrite/step.ts'
import { jwtAuthentication } from './traffic/jwt-authentication/step.ts'
import { mcpAuthentication } from './traffic/mcp-authentication/step.ts'
import { rateLimit } from './traffic/rate-limit/step.ts'
import { requestMirror } from './traffic/request-mirror/step.ts'
import { requestRedirect } from './traffic/request-redirect/step.ts'
import { retry } from './traffic/retry/step.ts'
import { timeouts } from './traffic/timeouts/step.ts'
import { transformation } from './traffic/transformation/step.ts'
import { upgrades } from './traffic/upgrades/step.ts'
import { urlRewrite } from './traffic/url-rewrite/step.ts'

export type TrafficName = keyof TrafficPolicies

/** Policies whose attachments all count get all their configs. */
type ConfigOf<Name extends TrafficName> = Name extends JoinedTraffic
  ? readonly NonNullable<TrafficPolicies[Name]>[]
  : NonNullable<TrafficPolicies[Name]>

/** Every traffic policy, in the order in which requests meet them. A policy missing here does not compile. */
export const trafficSteps = {
  // Limits that hold for everything after them.
  timeouts,
  retry,
  upgrades,
  // Preflights carry no credentials, so they are answered before anything could ask for some.
  cors,
  // Who the client is, before anything asks.
  jwtAuthentication,
  mcpAuthentication,
  basicAuthentication,
  apiKeyAuthentication,
  // After everything that says who the client is.
  authorization,
  // Denied requests spend nothing.
  rateLimit,
  // Sees what authentication found, and the client's headers before literals change them.
  transformation,
  // After transformations, which may set what it looks at.
  csrf,
  // The client's headers are final before the destination is rewritten.
  headerModifiers,
  // The default of the backend's kind first, so that an explicit rewrite can replace it.
  hostRewrite,
  urlRewrite,
  // Replies of the gateway come last, so that everything above protects them.
  requestRedirect,
  directResponse,
  // Only what really goes to a backend is mirrored, as it goes there.
  requestMirror,
} satisfies { [Name in TrafficName]-?: MakeStep<ConfigOf<Name>> }

const joinedNames: { [Name in JoinedTraffic]: true } = { authorization: true }
export const joinedTraffic: ReadonlySet<JoinedTraffic> = new Set(Object.keys(joinedNames) as JoinedTraffic[])

/** Policies with a part for responses. */
type RespondingName = {
  [Name in TrafficName]: (typeof trafficSteps)[Name] extends (...args: never[]) => RequestStep | null ? never : Name
}[TrafficName]

/** Each of them, in the order in which responses meet them: one that is missing here does not compile. */
const responding: { readonly [Name in RespondingName]: true } = {
  rateLimit: true,
  headerModifiers: true,
  transformation: true,
  // Last, so that headers that answer a browser are never overwritten.
  cors: true,
}
export const responseOrder = Object.keys(responding) as readonly RespondingName[]
