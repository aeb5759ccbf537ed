import type { AiModel } from '../backends/ai/models/schema.ts'
import type { PickerTarget, PoolMember } from '../schema/fields/inference-pool.ts'
import type { LlmProviderConfig } from '../llm/providers/schema.ts'
import type { McpBackendConfig, McpTargetTimeouts, StdioTargetConfig } from '../backends/mcp/schema.ts'
import type { OpenApiTools } from '../formats/openapi/operation.ts'
import type { ToolsConfig } from '../mcp/offered-tools.ts'
import type { ListenerTls } from '@portico/http/server'
import type { RouteMatch } from '../pipeline/route/route-rule.ts'
import type { BackendRehearsal } from '../pipeline/policy/rehearsal.ts'
import type { AttachedFrontend, AttachedTraffic, BackendPolicies } from '../policies/index.ts'

export type { Certificate, ClientCertificates, ListenerTls } from '@portico/http/server'
export type { RouteMatch, ValueMatch } from '../pipeline/route/route-rule.ts'

/** The config that the data plane runs: flat, keyed, plain JSON (structured-clone safe). Children point to parents. */
export interface Ir {
  binds: Bind[]
  listeners: Listener[]
  /** When the matches of two routes tie, the first route wins. */
  routes: Route[]
  backends: Backend[]
  policies: AttachedPolicy[]
}

export interface Bind {
  /** `bind/<port>`, or `bind/udp/<port>` */
  key: string
  port: number
  /** Address to listen on; empty means every address of the machine. */
  address: string
  /** Present for UDP, whose ports are apart from those of TCP. */
  transport?: 'udp'
}

export type ListenerProtocol = 'HTTP' | 'HTTPS' | 'TLS' | 'TCP' | 'UDP' | 'HBONE'

export interface Listener {
  /** `<bind key>/<listener name>` */
  key: string
  bind: string
  name: string
  /** Lower case; `*.example.com` is a wildcard; empty matches every host. */
  hostname: string
  protocol: ListenerProtocol
  tls: ListenerTls | null
  /** The listener set of this listener, which policies may target; absent without a set. */
  set?: string
}

export interface Route {
  /** `<listener key>/<route name>`, followed by `/<rule name>` if the rule has a name. */
  key: string
  listener: string
  name: string
  /** The name of the rule, when the route has several rules; empty otherwise. */
  rule: string
  labels: Readonly<Record<string, string>>
  hostnames: string[]
  /** ORed; empty on TCP, TLS and UDP listeners. */
  matches: RouteMatch[]
  backends: RouteBackend[]
  /** Present when the route has no backends of its own: the routes that name it in `within` serve its requests. */
  delegates?: true
  /** The key of the route that delegates to this one. A request must match both. */
  within?: string
}

export interface RouteBackend {
  /** `<route key>/backend/<index>`: the target of policies for this entry alone. */
  key: string
  /** The key of a Backend: a named one, or the inline backend of this entry. */
  backend: string
  weight: number
}

export interface Backend {
  /** `backend/<name>` for named backends, the key of the route entry for inline backends. */
  key: string
  name: string
  target: BackendTarget
}

export type BackendTarget =
  | { kind: 'static'; host: string; port: number }
  | { kind: 'unix'; path: string }
  /** Addresses come separately from the config, by the key of the backend: a change of addresses compiles nothing. */
  | { kind: 'service'; host: string; port: number; version: 'HTTP1' | 'HTTP2' | null; affinity?: 'ClientIP' }
  /** Replaces a reference that cannot be resolved: requests get status 500. */
  | { kind: 'invalid'; reason: string }
  | { kind: 'dynamicForwardProxy'; allowCidrs: string[]; ports: number[] }
  /**
   * Model servers of which a picker chooses; without a picker, the gateway balances. With `endpoints` null, addresses come
   * separately from the config.
   */
  | {
      kind: 'inferencePool'
      endpoints: PoolMember[] | null
      picker: PickerTarget | null
      version: 'HTTP1' | 'HTTP2' | null
    }
  /**
   * Groups in order of priority, with providers of equal rank in each. With `models` there is one group, and each of its
   * providers belongs to the model of the same name.
   */
  | { kind: 'ai'; groups: AiProvider[][]; models?: AiModel[] }
  /** A runtime of Amazon Bedrock AgentCore. */
  | { kind: 'agentCore'; arn: string; region: string; host: string; qualifier: string | null }
  | McpBackend

/** One provider of an `ai` backend. */
export interface AiProvider {
  /** `<backend key>/section/<name>`: the target of policies for this provider alone. */
  key: string
  name: string
  config: LlmProviderConfig
  /** Key of the backend with the inference pool that serves the calls; absent when `config` has the destination. */
  pool?: string
}

/** MCP servers behind one endpoint. */
export interface McpBackend extends Omit<McpBackendConfig, 'targets'> {
  kind: 'mcp'
  targets: McpTarget[]
}

export interface McpTarget {
  /** `<backend key>/section/<name>`: the target of policies for this MCP target alone. */
  key: string
  name: string
  reached: McpReached
  /** Null when the target offers all its tools unchanged. */
  tools: ToolsConfig | null
  /** In milliseconds. */
  timeouts: McpTargetTimeouts
}

/** The transport of a target. */
export type McpReached =
  | {
      by: 'http'
      host: string
      port: number
      path: string
      protocol: 'StreamableHTTP' | 'SSE'
      /** The key of the Backend for the Service: it has the addresses of the server, and its policies apply. */
      service?: string
    }
  | ({ by: 'stdio' } & StdioTargetConfig)
  | { by: 'openapi'; host: string; port: number; tools: OpenApiTools }

export type PolicyTarget =
  | { kind: 'gateway' }
  /** A policy for a bind has `frontend` fields only, and its fields win over those for the gateway. */
  | { kind: 'bind' | 'listenerSet' | 'listener' | 'route' | 'rule' | 'backend'; key: string }

/**
 * One user resource becomes one IR resource: an inline `policies` block is attached to the object that contains it.
 * Later policies win.
 */
export interface AttachedPolicy {
  key: string
  target: PolicyTarget
  frontend: AttachedFrontend | null
  traffic: AttachedTraffic | null
  /** The phase of `traffic`. */
  phase: 'PreRouting' | 'PostRouting'
  backend: AttachedBackend | null
  /** The key of the policy that this one repeats for another target; limits of both are counted together. */
  origin?: string
  /** Names the parts that this data plane does not know; the policy's targets are closed. Omitted if all are known. */
  unknown?: string
}

/**
 * The policies of a backend, and the rehearsal that runs now. Only the main thread of a gateway adds a rehearsal, never
 * a config.
 */
export type AttachedBackend = BackendPolicies & { rehearsal?: BackendRehearsal }
