import type { ConnectionOptions } from 'node:tls'
import { createClientTls } from '@portico/http/client'
import { connectionSettings } from '../compile/connection.ts'
import type { Backend, Ir } from '../ir/resources.ts'
import { createProvider } from '../llm/providers/index.ts'
import type { BackendPolicies } from '../policies/index.ts'
import { effectivePolicies } from './effective-policies.ts'

/** A server that the gateway calls at a fixed address in the config. */
export interface CalledServer {
  readonly kind: 'backend' | 'provider' | 'mcp' | 'collector'
  /** The name of the backend, such as `orders`, or of a part of a backend, such as `models/openai`. */
  readonly name: string
  readonly host: string
  readonly port: number
  /** The path of a socket file, in place of host and port; null for TCP. */
  readonly path: string | null
  /** Options of TLS; null for plain text. */
  readonly tls: ConnectionOptions | null
  /** The reason why TLS cannot be set up; empty when TLS can be set up. */
  readonly tlsProblem: string
  /** The HTTP version that the config demands; null when the server may choose. */
  readonly version: 'HTTP1' | 'HTTP2' | null
  /** Whether calls go through a proxy or a mesh, so that a direct connection proves nothing. */
  readonly isTunneled: boolean
}

/** Lists the servers that a config calls: backends, model providers, MCP servers and telemetry collectors. */
export function calledServers(ir: Ir): CalledServer[] {
  const policiesOf = effectivePolicies(ir)
  const collectors = collectorKeys(ir)
  return ir.backends.flatMap((backend): CalledServer[] => {
    const { key, name, target } = backend
    const kind = collectors.has(key) ? 'collector' : 'backend'
    switch (target.kind) {
      case 'static':
        return [serverOf({ kind, name, host: target.host, port: target.port }, policiesOf(backend))]
      case 'unix':
        return [{ ...serverOf({ kind, name, host: 'localhost', port: 0 }, policiesOf(backend)), path: target.path }]
      case 'ai':
        return providersOf(backend, policiesOf)
      case 'mcp':
        return target.targets.flatMap(({ name: part, key: partKey, reached }) => {
          // Programs have no address, and Kubernetes Services get their addresses from the cluster.
          if (!('host' in reached) || ('service' in reached && reached.service !== undefined)) return []
          const { host, port } = reached
          return [serverOf({ kind: 'mcp', name: `${name}/${part}`, host, port }, policiesOf(backend, partKey))]
        })
      case 'agentCore':
        return [serverOf({ kind, name, host: target.host, port: 443 }, { tls: {}, ...policiesOf(backend) })]
      // These backends have no fixed address: their addresses come from clients, the cluster or an endpoint picker.
      case 'dynamicForwardProxy':
      case 'inferencePool':
      case 'service':
      case 'invalid':
        return []
    }
  })
}

function providersOf(backend: Backend, policiesOf: ReturnType<typeof effectivePolicies>): CalledServer[] {
  if (backend.target.kind !== 'ai') return []
  return backend.target.groups.flat().flatMap(({ key, name, config, pool }) => {
    if (config.mock !== undefined || config.inferencePool !== undefined || pool !== undefined) return []
    const { destination } = createProvider(config)
    const own = { ...(destination.tls && { tls: {} }), ...policiesOf(backend, key) }
    return [serverOf({ kind: 'provider', name: `${backend.name}/${name}`, ...destination }, own)]
  })
}

function serverOf(
  { kind, name, host, port }: Pick<CalledServer, 'kind' | 'name' | 'host' | 'port'>,
  policies: BackendPolicies,
): CalledServer {
  const { tls, version, isTunneled } = settingsOf(policies)
  const made = tls === null ? null : createClientTls(tls, host)
  return {
    ...{ kind, name, host, port, path: null, version, isTunneled },
    tls: made !== null && 'tls' in made ? made.tls.connectOptions : null,
    tlsProblem: made !== null && 'problem' in made ? made.problem : '',
  }
}

function settingsOf(policies: BackendPolicies) {
  const { tls, version } = connectionSettings(policies, DEFAULTS)
  return { tls, version, isTunneled: policies.tunnel !== undefined }
}

/** Returns the keys of the backends that receive telemetry. */
function collectorKeys({ policies }: Ir): Set<string> {
  const names = policies.flatMap(({ frontend }) => [
    frontend?.tracing?.backendRef.name,
    frontend?.accessLog?.otlp?.backendRef.name,
    frontend?.metrics?.otlp?.backendRef.name,
  ])
  return new Set(names.filter((name) => name !== undefined))
}

const DEFAULTS = { connectTimeoutMs: 10_000, poolIdleTimeoutMs: 90_000, poolMaxIdle: 0 }
