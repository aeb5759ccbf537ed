import type { Backend } from '../ir/resources.ts'
import { invalidBackend } from '../pipeline/compiled/invalid-backend.ts'
import { staticBackend } from '../backends/static/call.ts'
import { compileBackendSteps } from './backend-steps.ts'
import { connectionSettings } from './connection.ts'
import { compileTunnel } from './tunnel.ts'
import type { TunnelParts } from './services.ts'
import type { BackendIdentity, CompiledBackend } from '../pipeline/compiled/compiled.ts'
import { widest } from '../pipeline/context/body-use.ts'
import { limitCalls } from '../pipeline/call/limited-call.ts'
import type { OutgoingTarget } from '../pipeline/context/outgoing.ts'
import type { Env } from '../pipeline/context/step.ts'
import { unhealthyCondition } from '../policies/backend/health/settings.ts'
import type { BackendPolicies } from '../policies/index.ts'

/** One part of a composed backend: an AI provider or an MCP target. */
export interface EndpointParts {
  key: string
  name: string
  /** The kind of the whole backend. */
  kind: 'ai' | 'mcp'
  address: { host: string; port: number }
  /** The Service whose port this part is, when its addresses come separately from the config. */
  service?: Backend
  policies: BackendPolicies
  signing?: OutgoingTarget['signing']
}

/** The default credentials for a cloud: those of the gateway itself. */
export function ownAuth(cloud: 'none' | 'aws' | 'azure' | 'gcp'): BackendPolicies {
  switch (cloud) {
    case 'none':
      return {}
    case 'aws':
      return { auth: { aws: {} } }
    case 'azure':
      return { auth: { azure: {} } }
    case 'gcp':
      return { auth: { gcp: { type: 'AccessToken' } } }
  }
}

/** The identity of a part, with the compiled policies that apply to each call. */
export function endpointIdentity(
  { key, name, kind, address, policies, signing }: EndpointParts,
  env: Env,
): BackendIdentity {
  const place = { isFixed: true, host: address.host, ...(signing !== undefined && { signing }) }
  const steps = compileBackendSteps(policies, { ...env, attachment: key }, place)
  const condition = unhealthyCondition(policies.health, env)
  const requestBody = widest([steps.requestBody, condition?.requestBody])
  return { key, name, kind, ...steps, requestBody, unhealthyCondition: condition }
}

/** Compiles a part to a backend that requests can be sent to. */
export function compileEndpoint(part: EndpointParts, env: Env, parts: TunnelParts): CompiledBackend {
  const { key, name, kind, address, policies, service } = part
  const { resolver, pools, endpoints, upstream, deadlines, addresses, hbone } = parts.services
  const identity = endpointIdentity(part, env)
  if (service?.target.kind === 'invalid') return invalidBackend(identity, service.target.reason)
  const settings = connectionSettings(policies, upstream)
  // Health applies to the provider as a whole, not to its addresses.
  if (kind === 'ai') settings.health = null
  if (policies.tunnel !== undefined) {
    const backend = { key, name, target: { kind: 'static' as const, ...address } }
    settings.tunnel = compileTunnel(backend, policies.tunnel, parts)
  }
  const common = { backend: identity, settings, address, guard: null, resolver, pools, endpoints }
  const { target } = service ?? {}
  if (service === undefined || target?.kind !== 'service') return limitCalls(staticBackend(identity, common), deadlines)
  settings.version ??= target.version
  const named = { address: { ...address, named: true as const }, resolver: addresses.resolverOf(service.key), hbone }
  return limitCalls(staticBackend(identity, { ...common, ...named }), deadlines)
}
