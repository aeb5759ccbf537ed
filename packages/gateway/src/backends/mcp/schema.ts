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
        .describe('A backend whose host is used in place of `host`; in a cluster a Service of the same namespace.'),
      port: port()
        .optional()
        .describe('Port of the server; 443 when unset beside `policies.tls`, and required otherwise.'),
      path: urlPath().optional().describe('Path of the endpoint; `/mcp` for `StreamableHTTP`, `/sse` for `SSE`.'),
      protocol: enumeration(['StreamableHTTP', 'SSE'])
        .prefault('StreamableHTTP')
        .describe('Transport that the server speaks; `SSE` is the one of the revision 2024-11-05.'),
      policies: policies().optional().describe('Policies for this target alone.'),
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
        .describe('Where Services are looked for; in the own namespace when unset.'),
      services: labelSelector().optional().describe('Services that are meant; all when unset.'),
    },
    [atLeastOneOf('namespaces', 'services')],
  ).describe('Servers behind Services, by labels: ports whose `appProtocol` says that they speak MCP.')
}

/** A program on this machine, which only the config file can name. */
const stdioTarget = object({
  cmd: string({ min: 1, max: 4_096 }).describe('Program to start; no shell is involved.'),
  args: list(string({ max: 8_192 }).describe('An argument.'), { max: 256 })
    .prefault([])
    .describe('Its arguments.'),
  env: map(string({ max: 32_768 }), { max: 256 })
    .prefault({})
    .describe('Variables of its environment, over those it inherits.'),
  clearEnv: boolean()
    .prefault(true)
    .describe(
      'Whether it inherits nothing of the environment of the gateway but `PATH`, `HOME`, `LANG`, `TZ` and the like. With `false` it inherits all but `SESSION_KEY`, `ADMIN_TOKEN` and `*_API_KEY`.',
    ),
  cwd: string({ min: 1, max: 4_096 }).optional().describe("Folder that it runs in; the gateway's when unset."),
  processes: enumeration(['PerSession', 'Shared'])
    .prefault('PerSession')
    .describe('`PerSession` starts one for each session; `Shared` serves all sessions with one.'),
  maxProcesses: integer({ min: 1, max: 10_000 })
    .prefault(64)
    .describe('Most processes of this target at once; a session that would need one more is refused.'),
})

const targetTimeouts = object({
  start: duration({ min: '10ms', max: '1h' })
    .prefault('30s')
    .describe(
      'How long a program may take from its start to its first message, and an `SSE` server to name its endpoint.',
    ),
  initialize: duration({ min: '10ms', max: '1h' })
    .prefault('20s')
    .describe('How long it may take to answer `initialize` or `server/discover`, once it has started.'),
  list: duration({ min: '10ms', max: '1h' }).prefault('20s').describe('How long it may take for all pages of a list.'),
}).describe('When it counts as failed.')

/** The keys are the target's own tool names; models never see excluded tools. */
const targetTools = object({
  include: list(toolPattern(), { min: 1, max: 1_024 })
    .optional()
    .describe('Names of tools that are offered, `*` stands for any text; all when unset.'),
  exclude: list(toolPattern(), { max: 1_024 }).prefault([]).describe('Names of tools that are not, of those.'),
  rename: map(toolName().describe('The name that clients see and call.'), { max: 1_024 })
    .prefault({})
    .describe('Other names for tools, by their own.'),
  description: map(string({ min: 1, max: 8_192 }).describe('What the tool does.'), { max: 1_024 })
    .prefault({})
    .describe('Other descriptions of tools, by their own names.'),
}).describe('Which of its tools are offered, and how. Rules and logs go by the own names.')

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
    static: staticTarget(policies).optional().describe('A remote server.'),
    stdio: fileOnly(stdioTarget.optional().describe('A program on this machine, spoken to by its pipes.')),
    openapi: fileOnly(openapiTarget(policies).optional().describe('An HTTP API whose operations become tools.')),
  }
  const name = targetName().describe('Name that clients see in front of names, and that policies target it by.')
  const common = { timeouts: targetTimeouts.prefault({}), tools: targetTools.optional() }
  const target = object({ name, ...kinds, ...common }, [
    exactlyOneOf(...(Object.keys(kinds) as (keyof typeof kinds)[])),
  ])
  const ofResource = object({ name, static: kinds.static, selector: mcpSelector().optional(), ...common }, [
    exactlyOneOf('selector', 'static'),
  ])
  const eitherTarget = localForm(target, ofResource, null).describe('A server of tools, prompts and resources.')
  return object({
    targets: list(eitherTarget, { min: 1, max: 32, uniqueBy: 'name' }).describe('Servers behind this backend.'),
    sessionRouting: enumeration(['Stateful', 'Stateless'])
      .prefault('Stateful')
      .describe(
        '`Stateful` gives clients a session id and keeps one session with each target; `Stateless` gives none.',
      ),
    failureMode: enumeration(['FailClosed', 'FailOpen'])
      .prefault('FailClosed')
      .describe(
        'What a target that fails does to the others: `FailOpen` leaves it out, `FailClosed` fails the request.',
      ),
    prefixMode: enumeration(['Conditional', 'Always', 'Never'])
      .prefault('Conditional')
      .describe(
        'Whether names carry the name of their target: `Conditional` when there are several targets. With `Never` a name that two targets have is left out of lists, and a call of it is an error.',
      ),
    sessionIdleTimeout: duration({ min: '1s', max: '720h' })
      .prefault('30m')
      .describe('How long a session without requests keeps processes and connections.'),
    maxMessageSize: byteSize({ min: 65_536, max: 268_435_456 })
      .prefault('16Mi')
      .describe(
        'Largest message of a target; a larger one is an error of its request. JSON of a single target that only passes has no limit.',
      ),
    sessionLifetime: duration({ min: '1m' })
      .prefault('720h')
      .describe('How long a session id is good for, used or not.'),
    allowedHosts: list(string({ min: 1, max: 256 }).describe('A Host, with or without a port; `*` is any.'), {
      max: 64,
    })
      .optional()
      .describe(
        'Hosts that requests may name. When unset: any on a listener with a hostname or a public address; on loopback only loopback names, against DNS rebinding.',
      ),
    allowedOrigins: list(string({ min: 1, max: 256 }).describe('An Origin; `*` is any.'), { max: 64 })
      .optional()
      .describe('Origins of web pages that may call. When unset: those on the same host, and loopback on loopback.'),
  }).describe('Servers of the Model Context Protocol.')
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
