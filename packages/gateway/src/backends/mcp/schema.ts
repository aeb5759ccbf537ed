import { openapiTarget } from '../../mcp/transports/openapi/schema.ts'
import { host } from '../../schema/fields/hosts.ts'
import { urlPath } from '../../schema/fields/http-parts.ts'
import { fileOnly, list, localForm, map, object } from '../../schema/kit.ts'
import type { Output, Schema } from '../../schema/kit.ts'
import { backendName, labelSelector, objectReference } from '../../schema/fields/references.ts'
import { atLeastOneOf, atMostOneOf, exactlyOneOf } from '../../schema/rules.ts'
import { portUnlessTls } from '../../schema/fields/tls-port.ts'
import { boolean, byteSize, duration, enumeration, integer, port, string } from '../../schema/fields/values.ts'

/** SPEC 2.11 McpTarget. */
function staticTarget<Policies>(policies: () => Schema<Policies>) {
  return object(
    {
      host: host().optional().describe('Host of the server.'),
      backendRef: localForm(
        object({ name: backendName({ fixed: true }).describe('Name of a backend of the top-level `backends`.') }),
        objectReference(),
        null,
      )
        .optional()
        .describe('A backend to use instead of `host`; in a cluster, a Service of the same namespace.'),
      port: port()
        .optional()
        .describe('Port of the server. With `policies.tls` it is 443 when unset; otherwise it is required.'),
      path: urlPath()
        .optional()
        .describe('Path of the endpoint. When unset: `/mcp` for `StreamableHTTP`, `/sse` for `SSE`.'),
      protocol: enumeration(['StreamableHTTP', 'SSE'])
        .prefault('StreamableHTTP')
        .describe('Transport of the server; `SSE` is the transport of revision 2024-11-05.'),
      policies: policies().optional().describe('Policies for this target only.'),
    },
    [exactlyOneOf('host', 'backendRef'), atMostOneOf('policies', 'backendRef'), portUnlessTls],
  )
}

/** SPEC 2.11 McpSelector: every Service port whose `appProtocol` is MCP is a target. */
function mcpSelector() {
  return object(
    {
      namespaces: labelSelector()
        .optional()
        .describe('Namespaces of the Services; the namespace of the backend when unset.'),
      services: labelSelector().optional().describe('Labels of the Services; all Services when unset.'),
    },
    [atLeastOneOf('namespaces', 'services')],
  ).describe(
    'MCP servers behind Services, selected by labels: each Service port whose `appProtocol` is MCP is a target.',
  )
}

/** A program on this machine, which only the config file can name. */
const stdioTarget = object({
  cmd: string({ min: 1, max: 4_096 }).describe('Program to start, without a shell.'),
  args: list(string({ max: 8_192 }).describe('An argument.'), { max: 256 })
    .prefault([])
    .describe('Arguments of the program.'),
  env: map(string({ max: 32_768 }), { max: 256 })
    .prefault({})
    .describe('Environment variables of the program, in addition to inherited ones.'),
  clearEnv: boolean()
    .prefault(true)
    .describe(
      'Whether the program inherits only basic environment variables of the gateway, such as `PATH`, `HOME`, `LANG` and `TZ`. With `false` it inherits all except `SESSION_KEY`, `ADMIN_TOKEN` and `*_API_KEY`.',
    ),
  cwd: string({ min: 1, max: 4_096 })
    .optional()
    .describe('Working directory of the program; that of the gateway when unset.'),
  processes: enumeration(['PerSession', 'Shared'])
    .prefault('PerSession')
    .describe('`PerSession` starts a process for each session; `Shared` serves all sessions with one process.'),
  maxProcesses: integer({ min: 1, max: 10_000 })
    .prefault(64)
    .describe('Largest number of processes of this target at a time; a session that needs one more is rejected.'),
})

const targetTimeouts = object({
  start: duration({ min: '10ms', max: '1h' })
    .prefault('30s')
    .describe(
      'Time limit from the start of a program to its first message, or for an `SSE` server to send its endpoint.',
    ),
  initialize: duration({ min: '10ms', max: '1h' })
    .prefault('20s')
    .describe('Time limit for the response to `initialize` or `server/discover`, once the server has started.'),
  list: duration({ min: '10ms', max: '1h' }).prefault('20s').describe('Time limit for all pages of a list.'),
}).describe('Time limits; a server that exceeds one has failed.')

/** The keys are the target's own tool names; models never see excluded tools. */
const targetTools = object({
  include: list(toolPattern(), { min: 1, max: 1_024 })
    .optional()
    .describe('Tools that clients can use, by name; `*` matches any text. All tools when unset.'),
  exclude: list(toolPattern(), { max: 1_024 })
    .prefault([])
    .describe('Exceptions from `include`: tools that clients cannot use.'),
  rename: map(toolName().describe('The name for clients.'), { max: 1_024 })
    .prefault({})
    .describe('New names of tools, by original name.'),
  description: map(string({ min: 1, max: 8_192 }).describe('The new description.'), { max: 1_024 })
    .prefault({})
    .describe('New descriptions of tools, by original name.'),
}).describe('Selects, renames and describes the tools of the target. Rules and logs use the original names.')

function toolPattern(): Schema<string> {
  return string({ min: 1, max: 256 }).describe('A name, or a pattern with `*`.')
}

/** A tool name that all clients and models accept. */
function toolName(): Schema<string> {
  return string(
    { min: 1, max: 64 },
    { pattern: /^[A-Za-z0-9_-]+$/, expected: 'a name of letters, digits, `_` and `-`, of at most 64' },
  )
}

/** SPEC 2.11 MCPBackend. `policies` returns the schema of backend policies, which refers to this backend in turn. */
export function mcpBackend<Policies>(policies: () => Schema<Policies>) {
  const kinds = {
    static: staticTarget(policies).optional().describe('A remote MCP server.'),
    stdio: fileOnly(
      stdioTarget.optional().describe('A program on this machine that communicates over standard input and output.'),
    ),
    openapi: fileOnly(openapiTarget(policies).optional().describe('An HTTP API whose operations become tools.')),
  }
  const name = targetName().describe(
    'Name of the target: the prefix in names for clients, and the `sectionName` for policies.',
  )
  const common = { timeouts: targetTimeouts.prefault({}), tools: targetTools.optional() }
  const target = object({ name, ...kinds, ...common }, [
    exactlyOneOf(...(Object.keys(kinds) as (keyof typeof kinds)[])),
  ])
  const ofResource = object({ name, static: kinds.static, selector: mcpSelector().optional(), ...common }, [
    exactlyOneOf('selector', 'static'),
  ])
  const eitherTarget = localForm(target, ofResource, null).describe('An MCP server.')
  return object({
    targets: list(eitherTarget, { min: 1, max: 32, uniqueBy: 'name' }).describe('MCP servers of this backend.'),
    sessionRouting: enumeration(['Stateful', 'Stateless'])
      .prefault('Stateful')
      .describe(
        '`Stateful` gives each client a session id and keeps a session with each target; `Stateless` uses no session ids.',
      ),
    failureMode: enumeration(['FailClosed', 'FailOpen'])
      .prefault('FailClosed')
      .describe(
        'What happens when a target fails: `FailOpen` continues with the other targets, `FailClosed` fails the request.',
      ),
    prefixMode: enumeration(['Conditional', 'Always', 'Never'])
      .prefault('Conditional')
      .describe(
        'Whether tool names are prefixed with the name of their target; with `Conditional`, only if there are several targets. With `Never`, a name that two targets have is omitted from lists, and calling it is an error.',
      ),
    sessionIdleTimeout: duration({ min: '1s', max: '720h' })
      .prefault('30m')
      .describe('Processes and connections of a session are closed after this time without requests.'),
    maxMessageSize: byteSize({ min: 65_536, max: 268_435_456 })
      .prefault('16Mi')
      .describe(
        'Largest message from a target; a larger message fails its request. JSON that a single target sends and the gateway only forwards has no limit.',
      ),
    sessionLifetime: duration({ min: '1m' }).prefault('720h').describe('Lifetime of a session id, used or not.'),
    allowedHosts: list(string({ min: 1, max: 256 }).describe('A host, with or without a port; `*` is any host.'), {
      max: 64,
    })
      .optional()
      .describe(
        'Allowed `Host` headers. When unset: any host on listeners with a hostname or a public address; only loopback names on loopback, against DNS rebinding.',
      ),
    allowedOrigins: list(string({ min: 1, max: 256 }).describe('An origin; `*` is any origin.'), { max: 64 })
      .optional()
      .describe(
        'Origins of web pages that may send requests. When unset: origins on the same host, and loopback origins on loopback.',
      ),
  }).describe('MCP servers (Model Context Protocol).')
}

/** A target name never contains `_` or `+`, which separate the target name from the tool name. */
function targetName(): Schema<string> {
  return string(
    { min: 1, max: 253 },
    {
      pattern: /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/,
      expected: 'a name of lower-case letters, digits, `-` and `.`',
    },
  )
}

export type StdioTargetConfig = Output<typeof stdioTarget>
export type McpTargetTimeouts = Output<typeof targetTimeouts>
export type McpBackendConfig = Output<ReturnType<typeof mcpBackend>>
