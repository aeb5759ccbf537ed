import type { LlmProviderConfig } from '../llm/providers/schema.ts'
import type { McpBackendConfig, McpTargetTimeouts, StdioTargetConfig } from '../backends/mcp/schema.ts'
import type { OpenApiTools } from '../formats/openapi/operation.ts'
import type { ToolsConfig } from '../mcp/offered-tools.ts'
import type { ListenerTls } from '../net/listener-tls.ts'
import type { RouteMatch } from '../pipeline/route/route-rule.ts'
import type { BackendPolicies, FrontendPolicies, TrafficPolicies } from '../policies/index.ts'

export type { Certificate, ClientCertificates, ListenerTls } from '../net/listener-tls.ts'
export type { RouteMatch, ValueMatch } from '../pipeline/route/route-rule.ts'

/** What the data plane runs: flat, keyed, plain JSON (structured-clone safe). Children point to parents. */
export interface Ir {
  binds: Bind[]
  listeners: Listener[]
  /** Of two whose matches tie the first one wins. */
  routes: Route[]
  backends: Backend[]
  policies: AttachedPolicy[]
}

export interface Bind {
  /** `bind/<port>` */
  key: string
  port: number
  /** Address to listen on; empty means every address of the machine. */
  address: string
}

export type ListenerProtocol = 'HTTP' | 'HTTPS' | 'TLS' | 'TCP'

export interface Listener {
  /** `<bind key>/<listener name>` */
  key: string
  bind: string
  name: string
  /** Lower case; `*.example.com` is a wildcard; empty matches every host. */
  hostname: string
  protocol: ListenerProtocol
  tls: ListenerTls | null
  /** The set of listeners that it belongs to, where policies may be for all of a set; left out without one. */
  set?: string
}

export interface Route {
  /** `<listener key>/<route name>`, with `/<rule name>` where a rule has one. */
  key: string
  listener: string
  name: string
  /** Name of the rule, where several rules make up the route; empty without one. */
  rule: string
  labels: Readonly<Record<string, string>>
  hostnames: string[]
  /** ORed; empty on TCP and TLS listeners. */
  matches: RouteMatch[]
  backends: RouteBackend[]
}

export interface RouteBackend {
  /** `<route key>/backend/<index>`: what policies of this entry alone attach to. */
  key: string
  /** Key of a Backend: a named one, or the inline one that this entry made. */
  backend: string
  weight: number
}

export interface Backend {
  /** `backend/<name>` for named ones, the key of the route's entry for inline ones. */
  key: string
  name: string
  target: BackendTarget
}

export type BackendTarget =
  | { kind: 'static'; host: string; port: number }
  | { kind: 'unix'; path: string }
  /** Addresses come beside the config, by the key of the backend: when they change, nothing is compiled. */
  | { kind: 'service'; host: string; port: number; version: 'HTTP1' | 'HTTP2' | null; affinity?: 'ClientIP' }
  /** Stands where something is referred to that cannot be used: requests for it are answered with 500. */
  | { kind: 'invalid'; reason: string }
  | { kind: 'dynamicForwardProxy'; allowCidrs: string[]; ports: number[] }
  /** Groups in order of priority, with providers of equal rank in each. */
  | { kind: 'ai'; groups: AiProvider[][] }
  /** A runtime of Amazon Bedrock AgentCore. */
  | { kind: 'agentCore'; arn: string; region: string; host: string; qualifier: string | null }
  | McpBackend

/** One provider of an `ai` backend. */
export interface AiProvider {
  /** `<backend key>/section/<name>`: what policies of this provider alone attach to. */
  key: string
  name: string
  config: LlmProviderConfig
}

/** Servers of the Model Context Protocol behind one endpoint. */
export interface McpBackend extends Omit<McpBackendConfig, 'targets'> {
  kind: 'mcp'
  targets: McpTarget[]
}

export interface McpTarget {
  /** `<backend key>/section/<name>`: what policies of this target alone attach to. */
  key: string
  name: string
  reached: McpReached
  /** Null where the target offers all it has, as it is. */
  tools: ToolsConfig | null
  /** In milliseconds. */
  timeouts: McpTargetTimeouts
}

/** How a target is reached. */
export type McpReached =
  | {
      by: 'http'
      host: string
      port: number
      path: string
      protocol: 'StreamableHTTP' | 'SSE'
      /** Key of the Backend that is the Service: it says where the server is, and policies of it hold. */
      service?: string
    }
  | ({ by: 'stdio' } & StdioTargetConfig)
  | { by: 'openapi'; host: string; port: number; tools: OpenApiTools }

export type PolicyTarget =
  | { kind: 'gateway' }
  | { kind: 'listenerSet' | 'listener' | 'route' | 'rule' | 'backend'; key: string }

/** One user resource, one IR resource: an inline `policies` block is attached to the object it stands in. Later ones win. */
export interface AttachedPolicy {
  key: string
  target: PolicyTarget
  frontend: FrontendPolicies | null
  traffic: TrafficPolicies | null
  /** Of `traffic`. */
  phase: 'PreRouting' | 'PostRouting'
  backend: BackendPolicies | null
  /** Names the parts that this data plane does not know; the policy's targets are closed. Omitted if all are known. */
  unknown?: string
}
