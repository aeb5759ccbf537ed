import { later } from '../pipeline/compiled/later.ts'
import type { OutgoingTarget, BackendStep } from '../pipeline/context/outgoing.ts'
import type { Env, MakeStep, RequestStep } from '../pipeline/context/step.ts'
import { backendTransformation } from './backend/transformation/step.ts'
import { backendUrlRewrite } from './backend/url-rewrite/step.ts'
import type { BackendPolicies, JoinedTraffic, TrafficPolicies } from './index.ts'
import { authorization } from './traffic/authorization/step.ts'
import { directResponse } from './traffic/direct-response/step.ts'
import { headerModifiers } from './traffic/header-modifiers/step.ts'
import { hostRewrite } from './traffic/host-rewrite/step.ts'
import { requestRedirect } from './traffic/request-redirect/step.ts'
import { retry } from './traffic/retry/step.ts'
import { sessionPersistence } from './traffic/session-persistence/step.ts'
import { timeouts } from './traffic/timeouts/step.ts'
import { transformation } from './traffic/transformation/step.ts'
import { upgrades } from './traffic/upgrades/step.ts'
import { urlRewrite } from './traffic/url-rewrite/step.ts'

// Most configs do without these, and each is much code.
const abort = later(async () => (await import('./traffic/abort/step.ts')).abort)
const apiKeyAuthentication = later(
  async () => (await import('./traffic/api-key-authentication/step.ts')).apiKeyAuthentication,
)
const basicAuthentication = later(
  async () => (await import('./traffic/basic-authentication/step.ts')).basicAuthentication,
)
const budget = later(async () => (await import('./traffic/budget/step.ts')).budget)
const cors = later(async () => (await import('./traffic/cors/step.ts')).cors)
const csrf = later(async () => (await import('./traffic/csrf/step.ts')).csrf)
const delay = later(async () => (await import('./traffic/delay/step.ts')).delay)
const extAuth = later(async () => (await import('./traffic/ext-auth/step.ts')).extAuth)
const extProc = later(async () => (await import('./traffic/ext-proc/step.ts')).extProc)
const jwtAuthentication = later(async () => (await import('./traffic/jwt-authentication/step.ts')).jwtAuthentication)
const mcpAuthentication = later(async () => (await import('./traffic/mcp-authentication/step.ts')).mcpAuthentication)
const rateLimit = later(async () => (await import('./traffic/rate-limit/step.ts')).rateLimit)
const requestMirror = later(async () => (await import('./traffic/request-mirror/step.ts')).requestMirror)
const backendAuth = later(async () => (await import('./backend/auth/step.ts')).backendAuth)
const backendExtAuth = later(async () => (await import('./backend/ext-auth/step.ts')).backendExtAuth)

export type TrafficName = keyof TrafficPolicies

/** Policies whose attachments all count get all their configs. */
type ConfigOf<Name extends TrafficName> = Name extends JoinedTraffic
  ? readonly NonNullable<TrafficPolicies[Name]>[]
  : NonNullable<TrafficPolicies[Name]>

type AllSteps = { [Name in TrafficName]-?: MakeStep<ConfigOf<Name>> }

/** Every traffic policy, in the order in which requests meet them, with the reason. One that is missing does not compile. */
export const requestOrder = [
  { steps: { timeouts, retry, upgrades }, why: 'limits for everything after them' },
  { steps: { sessionPersistence }, why: 'sees cookies as the client sent them' },
  { steps: { cors }, why: 'a preflight carries no credentials, so it is answered before any policy can require them' },
  {
    steps: { jwtAuthentication, mcpAuthentication, basicAuthentication, apiKeyAuthentication },
    why: 'identify the client; each removes its credential from the request',
  },
  { steps: { extAuth }, why: 'the external authorizer gets the identity of the client' },
  { steps: { authorization }, why: 'sees the results of all authentication and of the external authorizer' },
  { steps: { rateLimit }, why: 'denied requests do not count against a limit' },
  { steps: { budget }, why: 'requests that a rate limit denies reserve nothing' },
  { steps: { extProc }, why: 'the external processor gets only admitted requests; your own rules see its changes' },
  { steps: { transformation }, why: "sees claims, and the client's own headers before literals change them" },
  { steps: { csrf }, why: 'after transformations, which may set the headers that it checks' },
  { steps: { headerModifiers }, why: "the client's headers are final before the destination is rewritten" },
  { steps: { hostRewrite, urlRewrite }, why: 'an explicit rewrite wins over the default' },
  {
    steps: { delay, abort },
    why: 'rehearsals of a slow or failing backend, for requests that everything above admits',
  },
  { steps: { requestRedirect, directResponse }, why: 'responses of the gateway itself, protected by everything above' },
  { steps: { requestMirror }, why: 'copies only requests that go to a backend, in their final form' },
] as const satisfies readonly { steps: Partial<AllSteps>; why: string }[]

type Intersection<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer All) => void ? All : never
type OrderedSteps = Intersection<(typeof requestOrder)[number]['steps']>

/** The same by name, in the same order. */
export const trafficSteps: AllSteps = Object.assign({}, ...requestOrder.map(({ steps }) => steps)) as OrderedSteps

const joinedNames: { [Name in JoinedTraffic]: true } = { authorization: true }
export const joinedTraffic: ReadonlySet<JoinedTraffic> = new Set(Object.keys(joinedNames) as JoinedTraffic[])

/** Policies with a part for responses. */
type RespondingName = {
  [Name in TrafficName]: OrderedSteps[Name] extends (...args: never[]) => RequestStep | null ? never : Name
}[TrafficName]

/** The policies of responses in the order in which they run, each with the reason. A missing policy does not compile. */
export const responseReasons: { readonly [Name in RespondingName]: string } = {
  extAuth: 'headers that the external authorizer adds come first, so that your own rules can change them',
  rateLimit: 'its rate limit headers come first, so that your own rules can change them',
  sessionPersistence: 'its cookie comes before your own rules, which can change it',
  headerModifiers: 'literal values come before expressions, which can read them',
  transformation: 'sees the changes of all policies before it',
  extProc: 'the external processor sees the response as the client gets it',
  cors: 'last, so that no rule overwrites the headers for browsers',
}
export const responseOrder = Object.keys(responseReasons) as readonly RespondingName[]

/** Backend policies that change messages; the others say how the backend is reached. */
export type BackendStepName = 'extAuth' | 'auth' | 'urlRewrite' | 'transformation'
export type MakeBackendStep<Config> = (config: Config, env: Env, place: OutgoingTarget) => BackendStep

/** The steps of each attempt, in order. Signing comes after all of them. */
export const backendSteps: {
  readonly [Name in BackendStepName]: MakeBackendStep<NonNullable<BackendPolicies[Name]>>
} = {
  extAuth: backendExtAuth,
  auth: backendAuth,
  urlRewrite: backendUrlRewrite,
  transformation: backendTransformation,
}
