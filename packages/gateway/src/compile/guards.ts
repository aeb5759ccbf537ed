import { staticBackend } from '../backends/static/call.ts'
import { compileBackendSteps } from './backend-steps.ts'
import { connectionSettings } from './connection.ts'
import { ownAuth } from './endpoint.ts'
import { compileTunnel } from './tunnel.ts'
import type { TunnelParts } from './services.ts'
import type { GuardTarget } from '../llm/guards/ask.ts'
import { createGuards, type GuardEnv, type Vendor } from '../llm/guards/create-guards.ts'
import type { PromptGuards } from '../llm/guards/prompt-guards.ts'
import { signWith } from '../llm/guards/sign-with.ts'
import type { BackendIdentity } from '../pipeline/compiled/compiled.ts'
import type { Env } from '../pipeline/context/step.ts'
import type { AiConfig } from '../policies/backend/ai/schema.ts'
import type { BackendPolicies } from '../policies/index.ts'
import { bugReport } from '../telemetry/log/logger.ts'

type Guards = NonNullable<AiConfig['promptGuard']>
type GuardPolicies = NonNullable<NonNullable<NonNullable<Guards['request']>[number]['openAIModeration']>['policies']>

/** The guards of one provider, with the connections to their services. */
export function compileGuards(config: Guards | undefined, env: Env, parts: TunnelParts): PromptGuards {
  const guardEnv: GuardEnv<GuardPolicies> = {
    shadows: env,
    backend: (key) => ({ client: env.client(key), authority: env.describe(key).address }),
    vendor: (vendor) => vendorTarget(vendor, env, parts),
  }
  return createGuards(config ?? {}, guardEnv)
}

function vendorTarget(
  { guard, host, region, defaultAuth, keyHeader, policies }: Vendor<GuardPolicies>,
  env: Env,
  parts: TunnelParts,
): GuardTarget {
  const { resolver, pools, endpoints, upstream } = parts.services
  const own: BackendPolicies = { tls: {}, ...ownAuth(defaultAuth), ...policies, ...keyIn(keyHeader, policies?.auth) }
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
  return { client, authority: host, sign: signWith(identity, bugReport(env.log)) }
}

/** Puts a key whose location is not configured into the header in which the vendor expects it. */
function keyIn(header: string | undefined, auth: BackendPolicies['auth']): Pick<BackendPolicies, 'auth'> {
  const hasKey = auth?.key !== undefined || auth?.secretRef !== undefined
  if (header === undefined || !hasKey || auth.location !== undefined) return {}
  return { auth: { ...auth, location: { header: { name: header } } } }
}
