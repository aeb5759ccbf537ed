import { randomUUID } from 'node:crypto'
import { isIP } from 'node:net'
import { mcpBackend } from '../backends/mcp/call.ts'
import { mcpBackendWithoutServers } from '../backends/mcp/without-servers.ts'
import { compileEndpoint } from './endpoint.ts'
import { backendOf, type TunnelParts } from './services.ts'
import type { Backend, McpBackend, McpTarget } from '../ir/resources.ts'
import { createRulesShadow } from '../pipeline/shadow/rules-shadow.ts'
import { createMcpJudge } from '../mcp/authorize.ts'
import { createGuard } from '../mcp/client/check-request.ts'
import type { Endpoint } from '../mcp/engine/endpoint.ts'
import { LostTargets } from '../mcp/engine/lost-targets.ts'
import { Outages } from '../mcp/engine/outages.ts'
import type { Target, TargetLimits } from '../mcp/targets/target.ts'
import type { Hub } from '../mcp/hub.ts'
import { offerKey } from './offers.ts'
import { WaitingCalls } from '../mcp/input/waiting-calls.ts'
import { processSpec } from './stdio-processes.ts'
import { Namer } from '../mcp/names.ts'
import { OfferedTools } from '../mcp/offered-tools.ts'
import { createSealer } from '../mcp/session/seal.ts'
import { Sessions } from '../mcp/session/sessions.ts'
import { openapiTransport } from '../mcp/transports/openapi/transport.ts'
import { sseTransport } from '../mcp/transports/sse/transport.ts'
import { stdioTransport } from '../mcp/transports/stdio/transport.ts'
import { streamableTransport } from '../mcp/transports/streamable-http/transport.ts'
import type { TargetTransport } from '../mcp/transport.ts'
import type { Deadlines } from '@portico/http'
import type { BackendIdentity, CompiledBackend } from '../pipeline/compiled/compiled.ts'
import type { Env } from '../pipeline/context/step.ts'
import type { BackendPolicies } from '../policies/index.ts'
import { originMatcher } from '../policies/traffic/cors/origin.ts'
import { bugReport } from '../telemetry/log/logger.ts'
import { formatHostPort } from '@portico/http/client'

export interface McpParts {
  identity: BackendIdentity
  backend: McpBackend
  /** The policies of one target merged over those of the backend. */
  policiesOf: (target: McpTarget) => BackendPolicies
  /** The rules of all attachments that apply to a target. */
  rulesOf: (target: McpTarget) => Parameters<typeof createMcpJudge>[0]
  /** The shadow MCP authorization rules of all attachments that apply to a target. */
  shadowsOf: McpParts['rulesOf']
  /** The facts about the route; defaults when no route leads to the backend. */
  route: { hasHostnames: boolean; corsOrigins: () => readonly string[] }
  env: Env
  parts: TunnelParts
}

/** Compiles a backend of MCP servers, with all its targets ready for calls. */
export function compileMcp(mcp: McpParts): CompiledBackend {
  const { identity, backend, route, env, parts } = mcp
  const [first, ...others] = backend.targets
  if (first === undefined) return mcpBackendWithoutServers(identity)
  const { services } = parts
  const { allowedHosts, allowedOrigins, prefixMode, sessionRouting, failureMode, sessionLifetime } = backend
  const endpoint: Endpoint = {
    backend: offerKey(identity.key),
    targets: [compileTarget(first, mcp), ...others.map((target) => compileTarget(target, mcp))],
    namer: new Namer(
      backend.targets.map(({ name }) => name),
      prefixMode,
      new Map(
        backend.targets.flatMap(({ name, tools }) =>
          tools === null ? [] : [[name, new OfferedTools(tools)] as const],
        ),
      ),
    ),
    isStateful: sessionRouting === 'Stateful',
    failsOpen: failureMode === 'FailOpen',
    outages: failureMode === 'FailOpen' && backend.targets.length > 1 ? outagesOf(mcp) : null,
    lifetimeMs: sessionLifetime,
    guard: createGuard({
      allowedHosts,
      allowedOrigins,
      hasHostnames: route.hasHostnames,
      corsAllows: originMatcher(route.corsOrigins()),
    }),
    sessions: sessionsOf(services.sessionKeys(), services.hub, env),
    hub: services.hub,
    waiting: waitingOf(services, env),
    deadlines: services.deadlines,
    clock: env.clock,
    now: services.now,
    newKey: randomUUID,
    maxBytes: env.maxBufferBytes,
    maxAnswerBytes: backend.maxMessageSize,
    bug: bugReport(env.log),
    log: env.log,
  }
  return mcpBackend(identity, endpoint)
}

/** Tracks target outages. A recovered target is announced to every client that listens. */
function outagesOf({ identity, env, parts: { services } }: McpParts): Outages {
  const recovered = (target: string): void => {
    env.log.info('MCP target is available again', { target })
    services.hub.announce(offerKey(identity.key))
  }
  return new Outages(services.now, new LostTargets({ deadlines: services.deadlines, recovered }))
}

/** The MCP sessions; they outlive reloads. */
function sessionsOf(keys: readonly string[], hub: Hub, { kept, clock }: Env): Sessions {
  return kept.held(`mcp sessions ${keys.join()}`, () => {
    const sealer = createSealer(keys.map((key) => Buffer.from(key, 'hex')))
    return new Sessions({ hub, sealer, clock })
  })
}

/** The waiting calls of all backends, which share one limit. */
function waitingOf({ sessionKeys, hub, deadlines }: TunnelParts['services'], { kept, clock }: Env): WaitingCalls {
  const keys = sessionKeys()
  return kept.held(`mcp waiting calls ${keys.join()}`, () => {
    const sealer = createSealer(keys.map((key) => Buffer.from(key, 'hex')))
    return new WaitingCalls({ hub, sealer, deadlines, clock, newKey: () => crypto.randomUUID() })
  })
}

function compileTarget(target: McpTarget, mcp: McpParts): Target {
  const policies = mcp.policiesOf(target)
  return {
    name: target.name,
    transport: transportOf(target, policies, mcp),
    judge: createMcpJudge(mcp.rulesOf(target), mcp.env),
    shadow: shadowOf(mcp.shadowsOf(target), mcp.env),
    limits: limitsOf(target, mcp.parts.services.deadlines),
    forwardsCredentials: policies.auth?.passthrough !== undefined,
  }
}

function shadowOf(rules: ReturnType<McpParts['shadowsOf']>, env: Env): Target['shadow'] {
  if (rules.length === 0) return null
  const judge = createMcpJudge(rules, env)
  const tell = createRulesShadow('mcpAuthorization', env)
  return (rx, item) => tell(rx, judge.decide(rx, item))
}

/** The time limits of a target. A target that must be started first gets the start timeout on top. */
function limitsOf({ reached, timeouts }: McpTarget, deadlines: Deadlines): TargetLimits {
  const isStarted = reached.by === 'stdio' || (reached.by === 'http' && reached.protocol === 'SSE')
  return { beginMs: timeouts.initialize + (isStarted ? timeouts.start : 0), listMs: timeouts.list, deadlines }
}

function transportOf(target: McpTarget, policies: BackendPolicies, mcp: McpParts): TargetTransport {
  const { reached } = target
  const { env } = mcp
  const maxMessageBytes = mcp.backend.maxMessageSize
  const bug = bugReport(env.log)
  switch (reached.by) {
    case 'openapi': {
      const connection = connectionOf(target, reached, policies, mcp)
      const authority = authorityOf(reached, policies)
      return openapiTransport({ connection, tools: reached.tools, authority, maxMessageBytes, bug })
    }
    case 'stdio':
      return stdioTransport(processSpec(target, reached, mcp.backend), mcp.parts.services.hub)
    case 'http': {
      const service = reached.service === undefined ? undefined : backendOf(mcp.parts.backendsByKey, reached.service)
      const connection = connectionOf(target, reached, policies, mcp, service)
      const { path, protocol } = reached
      const hasReplicas = service?.target.kind === 'service'
      const common = { connection, path, authority: authorityOf(reached, policies), bug, maxMessageBytes, hasReplicas }
      if (protocol === 'StreamableHTTP') return streamableTransport(common, mcp.parts.services.hub)
      const idleTimeoutMs = mcp.backend.sessionIdleTimeout
      // SSE streams outlive reloads as long as the target, its policies and its limits stay the same.
      const key = `${target.key} ${JSON.stringify([reached, service, policies, target.timeouts, maxMessageBytes])}`
      const sse = { ...common, key, hub: mcp.parts.services.hub, idleTimeoutMs, openTimeoutMs: target.timeouts.start }
      return env.kept.held(`mcp sse ${key}`, () => sseTransport(sse))
    }
  }
}

function connectionOf(
  { key, name }: McpTarget,
  { host, port }: { host: string; port: number },
  policies: BackendPolicies,
  { env, parts }: McpParts,
  service?: Backend,
): CompiledBackend {
  const place = { address: { host, port }, ...(service !== undefined && { service }) }
  return compileEndpoint({ key, name, kind: 'mcp', ...place, policies }, env, parts)
}

/** The `Host` value of a target, without a default port. */
function authorityOf({ host, port }: { host: string; port: number }, { tls }: BackendPolicies): string {
  const isDefault = port === (tls === undefined ? 80 : 443)
  if (isDefault) return isIP(host) === 6 ? `[${host}]` : host
  return formatHostPort(host, port)
}
