import { backendOf, type BackendServices, type TunnelParts } from './services.ts'
import { agentCoreBackend, invoking } from '../backends/agent-core/call.ts'
import { dynamicForwardProxyBackend } from '../backends/dynamic-forward-proxy/call.ts'
import { memberResolver } from '../backends/inference-pool/members.ts'
import { invalidBackend } from '../pipeline/compiled/invalid-backend.ts'
import { staticBackend } from '../backends/static/call.ts'
import {
  compileAi,
  compileMcp,
  compilePool,
  createModelRouter,
  createPricer,
  createResponseCache,
  createRetryBudget,
  rehearsedBackend,
} from './load-features.ts'
import type { BackendKeys, PolicyIndex } from '../ir/merge.ts'
import type { AttachedBackend, Backend, BackendTarget, McpTarget, Route, RouteBackend } from '../ir/resources.ts'
import type { SharingMap } from '../collections/sharing-map.ts'
import { compileBackendSteps } from './backend-steps.ts'
import { connectionSettings } from './connection.ts'
import { compileTunnel } from './tunnel.ts'
import type { BackendIdentity, CompiledBackend } from '../pipeline/compiled/compiled.ts'
import type { OutgoingTarget } from '../pipeline/context/outgoing.ts'
import { widest } from '../pipeline/context/body-use.ts'
import type { Env } from '../pipeline/context/step.ts'
import type { BackendPolicies } from '../policies/index.ts'
import type { SessionPersistenceConfig } from '../schema/fields/session-persistence.ts'
import { unhealthyCondition } from '../policies/backend/health/settings.ts'
import { Destination } from '@portico/http/client'

/** Compiles backends by attachment point: policies of the attachment point apply too. */
export interface Backends {
  forRoute(route: Route, entry: RouteBackend): CompiledBackend
  /** The session persistence of the backends of a route, by the key of the backend. */
  sessionsOf(route: Route): ReadonlyMap<string, SessionPersistenceConfig>
  /** A backend that a policy names, with the backend's own policies only. */
  named(key: string): CompiledBackend
}

export function compileBackends(
  backendsByKey: SharingMap<Backend>,
  policies: PolicyIndex,
  services: BackendServices,
  env: () => Omit<Env, 'attachment'>,
): Backends {
  const parts: TunnelParts = { backendsByKey, policies, services }
  return {
    sessionsOf: (route) =>
      new Map(
        route.backends.flatMap((entry) => {
          const { sessionPersistence } = policies.backend(keysOf(route, entry))
          return sessionPersistence === undefined ? [] : [[entry.backend, sessionPersistence] as const]
        }),
      ),
    forRoute: (route, entry) =>
      compileBackend(keysOf(route, entry), parts, env(), {
        hasHostnames: route.hostnames.some((hostname) => hostname !== '*'),
        corsOrigins: () => corsOrigins(policies, route),
      }),
    named: (key) => compileBackend({ listener: '', route: '', parent: '', backend: key, entry: key }, parts, env()),
  }
}

function keysOf(route: Route, entry: RouteBackend): BackendKeys {
  return {
    listener: route.listener,
    route: route.key,
    parent: `${route.listener}/${route.name}`,
    backend: entry.backend,
    entry: entry.key,
  }
}

/** The facts about a route that its backends may use. */
interface RouteFacts {
  hasHostnames: boolean
  /** The allowed origins of the route's CORS policy. */
  corsOrigins: () => readonly string[]
}

const NO_ROUTE: RouteFacts = { hasHostnames: false, corsOrigins: () => [] }

function corsOrigins(policies: PolicyIndex, { listener, key, name }: Route): readonly string[] {
  const cors = policies.traffic({ listener, key, parent: `${listener}/${name}` }).cors
  return cors?.configs.at(-1)?.allowOrigins ?? []
}

function compileBackend(
  at: BackendKeys,
  parts: TunnelParts,
  env: Omit<Env, 'attachment'>,
  route: RouteFacts = NO_ROUTE,
): CompiledBackend {
  const backend = backendOf(parts.backendsByKey, at.backend)
  const policies = withDefaults(backend.target, policiesAt(at, parts.policies))
  const compiled = compileTarget({ at, backend, policies }, parts, env, route)
  // A backend of language models applies a rehearsal to each call to a provider, so that failover reacts to it.
  if (policies.rehearsal === undefined || backend.target.kind === 'ai') return compiled
  return rehearsedBackend(compiled, policies.rehearsal, { ...env, attachment: backend.key })
}

function compileTarget(
  { at, backend, policies }: { at: BackendKeys; backend: Backend; policies: AttachedBackend },
  parts: TunnelParts,
  env: Omit<Env, 'attachment'>,
  route: RouteFacts,
): CompiledBackend {
  const identity = identityOf(backend, policies, env)
  const { resolver, pools, endpoints, upstream, hbone } = parts.services
  const settings = connectionSettings(policies, upstream)
  if (backend.target.kind === 'service') settings.version ??= backend.target.version
  if (policies.tunnel !== undefined) {
    const { backendRef } = policies.tunnel
    const proxy = backendRef === undefined ? null : backendOf(parts.backendsByKey, backendRef.name).target
    if (proxy?.kind === 'invalid') return invalidBackend(identity, `its tunnel: ${proxy.reason}`)
    settings.tunnel = compileTunnel(backend, policies.tunnel, parts)
  }
  const common = { backend: identity, settings, resolver, pools, endpoints }
  const target = backend.target
  switch (target.kind) {
    case 'static':
      return staticBackend(identity, { ...common, address: { host: target.host, port: target.port }, guard: null })
    case 'service':
      return staticBackend(identity, {
        ...common,
        resolver: parts.services.addresses.resolverOf(backend.key),
        address: { host: target.host, port: target.port, named: true },
        hbone,
        byClient: target.affinity === 'ClientIP',
        guard: null,
      })
    case 'invalid':
      return invalidBackend(identity, target.reason)
    case 'unix':
      return staticBackend(identity, { ...common, address: { path: target.path }, guard: null })
    case 'ai':
      return compileAi({
        identity: { ...identity, request: null },
        groups: target.groups,
        models: target.models,
        policies,
        policiesOf: ({ key, pool }) =>
          parts.policies.backend({ ...at, section: key, ...(pool !== undefined && { service: pool }) }),
        env: { ...env, attachment: backend.key },
        parts,
        compilePool,
        createModelRouter,
        createPricer,
        createResponseCache,
        rehearsedBackend,
      })
    case 'mcp':
      return compileMcp({
        identity: { ...identity, request: null, sign: null },
        backend: target,
        policiesOf: (part) => parts.policies.backend({ ...at, ...placeOfTarget(part) }),
        rulesOf: (part) => parts.policies.mcpAuthorization({ ...at, ...placeOfTarget(part) }),
        shadowsOf: (part) => parts.policies.mcpShadows({ ...at, ...placeOfTarget(part) }),
        route,
        env: { ...env, attachment: backend.key },
        parts,
      })
    case 'agentCore': {
      const address = { host: target.host, port: 443 }
      const destination = new Destination({ ...common, address, guard: null })
      const request = invoking(identity.request, target, { keepsKey: policies.auth?.passthrough !== undefined })
      return agentCoreBackend({ ...identity, request }, { destination, settings })
    }
    case 'inferencePool': {
      const { endpoints: listed, picker, version } = target
      const members =
        listed === null ? parts.services.addresses.resolverOf(backend.key) : memberResolver(listed, resolver)
      return compilePool({ identity, policies, members, picker, version, isWhole: true }, env, parts)
    }
    case 'dynamicForwardProxy':
      return dynamicForwardProxyBackend(identity, { ...common, guard: parts.services.addressGuard(target) })
  }
}

function placeOfTarget({ key, reached }: McpTarget): Pick<BackendKeys, 'section' | 'service'> {
  const service = reached.by === 'http' ? reached.service : undefined
  return { section: key, ...(service !== undefined && { service }) }
}

function identityOf(
  { key, name, target }: Backend,
  policies: BackendPolicies,
  env: Omit<Env, 'attachment'>,
): BackendIdentity {
  const condition = unhealthyCondition(policies.health, env)
  // AI providers and MCP targets each have their own credentials and request changes.
  const isComposed = target.kind === 'ai' || target.kind === 'mcp'
  const own = isComposed ? { ...policies, auth: undefined } : policies
  const steps = compileBackendSteps(own, { ...env, attachment: key }, outgoingTarget(target))
  return {
    key,
    name,
    kind: target.kind === 'unix' ? 'static' : target.kind,
    ...steps,
    requestBody: widest([steps.requestBody, condition?.requestBody]),
    unhealthyCondition: condition,
    ...(policies.retryBudget !== undefined && {
      retryBudget: createRetryBudget(policies.retryBudget, { ...env, attachment: key }),
    }),
  }
}

/**
 * The policies of a backend. Backends that policies call are not subject to an authorizer of all backends, or the
 * authorizer would be called for calls to itself.
 */
function policiesAt(at: BackendKeys, policies: PolicyIndex): AttachedBackend {
  const { extAuth, ...rest } = policies.backend(at)
  if (extAuth === undefined) return rest
  const isNamed = at.route === ''
  const general = isNamed ? policies.backend({ listener: '', route: '', parent: '', backend: '', entry: '' }) : {}
  return extAuth === general.extAuth ? rest : { ...rest, extAuth }
}

/** Adds the TLS and credentials that a cloud service needs by default; policies win. */
function withDefaults(target: BackendTarget, policies: AttachedBackend): AttachedBackend {
  return target.kind === 'agentCore' ? { tls: {}, auth: { aws: {} }, ...policies } : policies
}

function outgoingTarget(target: BackendTarget): OutgoingTarget {
  const isFixed = target.kind !== 'dynamicForwardProxy'
  if (target.kind !== 'agentCore') {
    return { isFixed, host: target.kind === 'static' || target.kind === 'service' ? target.host : null }
  }
  return { isFixed, host: target.host, signing: { region: target.region, service: 'bedrock-agentcore' } }
}
