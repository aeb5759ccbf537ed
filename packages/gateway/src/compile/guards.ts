import type { ProviderGuards } from '../backends/ai/provider.ts'
import { staticBackend } from '../backends/static/call.ts'
import { compileBackendSteps } from './backend-steps.ts'
import { connectionSettings } from './connection.ts'
import { compileTunnel } from './tunnel.ts'
import type { TunnelParts } from './services.ts'
import type { GuardTarget, Sign } from '../llm/guards/ask.ts'
import { createGuards, type GuardEnv, type Vendor } from '../llm/guards/create-guards.ts'
import { sourceOf } from '../net/body.ts'
import { HeaderBlock } from '../net/header-block.ts'
import { prepareAttempt } from '../pipeline/attempt-steps.ts'
import type { BackendIdentity } from '../pipeline/compiled.ts'
import type { OutgoingRequest } from '../pipeline/outgoing.ts'
import type { RequestContext } from '../pipeline/request-context.ts'
import type { Env } from '../pipeline/step.ts'
import type { AiConfig } from '../policies/backend/ai/schema.ts'
import type { BackendPolicies } from '../policies/index.ts'

type Guards = NonNullable<AiConfig['promptGuard']>
type GuardPolicies = NonNullable<NonNullable<NonNullable<Guards['request']>[number]['openAIModeration']>['policies']>

/** The guards of one provider, with the ways to those whom they ask. */
export function compileGuards(config: Guards | undefined, env: Env, parts: TunnelParts): ProviderGuards {
  const guardEnv: GuardEnv<GuardPolicies> = {
    backend: (key) => ({ client: env.client(key), authority: env.describe(key).address }),
    vendor: (vendor) => vendorTarget(vendor, env, parts),
  }
  const chain = (phase: 'request' | 'response') => {
    const configs = config?.[phase]
    return configs === undefined ? null : createGuards(configs, phase, guardEnv)
  }
  return { request: chain('request'), response: chain('response') }
}

function vendorTarget(
  { guard, host, region, policies }: Vendor<GuardPolicies>,
  env: Env,
  parts: TunnelParts,
): GuardTarget {
  const { resolver, pools, endpoints, upstream } = parts.services
  const own: BackendPolicies = { tls: {}, ...defaultAuth(guard), ...policies }
  const place = { isFixed: true, host, ...(region !== null && { signing: { region, service: 'bedrock' } }) }
  const key = `${env.attachment}/guard/${guard}`
  const identity: BackendIdentity = {
    key,
    name: guard,
    kind: 'static',
    ...compileBackendSteps(own, { ...env, attachment: key }, place),
    unhealthyCondition: null,
  }
  const settings = connectionSettings(own, upstream)
  const address = { host, port: 443 }
  if (own.tunnel !== undefined) {
    const backend = { key, name: guard, target: { kind: 'static' as const, ...address } }
    settings.tunnel = compileTunnel(backend, own.tunnel, parts)
  }
  const client = staticBackend(identity, {
    backend: identity,
    settings,
    address,
    guard: null,
    resolver,
    pools,
    endpoints,
  })
  return { client, authority: host, sign: signWith(identity, env) }
}

/** Clouds know the gateway itself where nobody says otherwise. */
function defaultAuth(guard: Vendor<unknown>['guard']): BackendPolicies {
  if (guard === 'bedrockGuardrails') return { auth: { aws: {} } }
  return guard === 'googleModelArmor' ? { auth: { gcp: { type: 'AccessToken' } } } : {}
}

/** The backend policies of a guard, as far as they are headers. */
function signWith(identity: BackendIdentity, env: Env): Sign {
  return async ({ method, authority, target, headers, body }) => {
    const outgoing: OutgoingRequest = {
      method,
      authority,
      target,
      headers: HeaderBlock.of(headers),
      body: sourceOf(body),
      upgrade: '',
      teTrailers: false,
    }
    const bug = (error: unknown): void => env.log.error('bug', { error: String(error) })
    const failure = await prepareAttempt(identity, { outgoing, rx: NO_REQUEST, isWanted: () => true, bug })
    if (failure !== undefined) throw new Error(failure.message)
    const known = new Set(headers.map(([name]) => name))
    const added: [string, string][] = []
    outgoing.headers.forEach((name, value) => {
      if (!known.has(name.toLowerCase())) added.push([name.toLowerCase(), value])
    })
    return added
  }
}

/** A guard asks on the gateway's own account: there is no client whose credential could be passed on. */
const NOTHING_TAKEN: RequestContext['taken'] = []
const NO_REQUEST = { clientToken: null, taken: NOTHING_TAKEN, trace: null } as RequestContext
