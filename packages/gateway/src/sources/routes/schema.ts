import { aiBackend } from '../../backends/ai/schema.ts'
import { mcpBackend } from '../../backends/mcp/schema.ts'
import { awsBackend } from '../../backends/agent-core/schema.ts'
import { dynamicForwardProxy } from '../../backends/dynamic-forward-proxy/schema.ts'
import { inferencePool } from '../../schema/fields/inference-pool.ts'
import { fileOnly, list, object } from '../../schema/kit.ts'
import type { Output } from '../../schema/kit.ts'
import { hostTarget, hostname } from '../../schema/fields/hosts.ts'
import { readableHeaderName, urlPath } from '../../schema/fields/http-parts.ts'
import { objectName, regex } from '../../schema/fields/names.ts'
import { backendName } from '../../schema/fields/references.ts'
import { exactlyOneOf } from '../../schema/rules.ts'
import { integer, string } from '../../schema/fields/values.ts'
import { backendBlock, targetBlock, labels, routeBlock } from '../policies/schema.ts'

const value = object(
  {
    exact: string({ max: 4_096 }).optional().describe('The exact value.'),
    regex: regex().optional().describe('A pattern that the whole value must match.'),
  },
  [exactlyOneOf('exact', 'regex')],
)

/** The conditions that select the requests of a route. */
export const routeMatch = object({
  path: object(
    {
      exact: urlPath().optional().describe('The whole path.'),
      pathPrefix: urlPath()
        .optional()
        .describe('Whole segments at the start of the path: `/a` matches `/a` and `/a/b`, not `/ab`.'),
      regex: regex().optional().describe('A pattern that the whole path must match.'),
    },
    [exactlyOneOf('exact', 'pathPrefix', 'regex')],
  )
    .prefault({ pathPrefix: '/' })
    .describe('The path of the request.'),
  method: string({ min: 1, max: 32 }, { pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, expected: 'a method such as `GET`' })
    .optional()
    .describe('Method of the request; case-sensitive.'),
  headers: list(
    object({
      name: readableHeaderName().describe('Header name, or `:method`, `:authority`, `:path`, `:scheme`.'),
      value: value.describe('Required value.'),
    }).describe('A required header.'),
    { max: 16 },
  )
    .prefault([])
    .describe('Headers that must all match.'),
  query: list(
    object({
      name: string({ min: 1, max: 256 }).describe('Name of the parameter.'),
      value: value.describe('Required value.'),
    }).describe('A required query parameter.'),
    { max: 16 },
  )
    .prefault([])
    .describe('Query parameters that must all match.'),
}).describe('A match: the request must meet all of its conditions.')

const backend = object(
  {
    weight: integer({ min: 0, max: 1_000_000 })
      .prefault(1)
      .describe('Share of the requests, relative to the weights of the other backends of the route.'),
    backend: backendName().optional().describe('Name of a backend of the top-level `backends`.'),
    host: hostTarget().optional().describe('Destination as `host:port`, `[ipv6]:port` or `unix:/path`.'),
    dynamicForwardProxy: dynamicForwardProxy
      .optional()
      .describe('Sends each request to the host in its `Host` header.'),
    inferencePool: inferencePool
      .optional()
      .describe('Model servers of which an endpoint picker chooses one for each request.'),
    ai: aiBackend(backendBlock, backendBlock).optional().describe('Large language models.'),
    mcp: mcpBackend(targetBlock).optional().describe('MCP servers (Model Context Protocol).'),
    aws: awsBackend.optional(),
    policies: backendBlock().optional().describe('Policies for this backend, in this route only.'),
  },
  [exactlyOneOf('backend', 'host', 'dynamicForwardProxy', 'inferencePool', 'ai', 'mcp', 'aws')],
).describe('A backend of the route.')

export const route = object({
  name: objectName().optional().describe('Name in traces, logs and metrics; `route<index>` when unset.'),
  ruleName: fileOnly(
    objectName()
      .optional()
      .describe(
        'Name of this rule. Entries with the same `name` and different rule names form one route with several rules.',
      ),
  ),
  labels: labels().prefault({}).describe('Labels, with which policies select routes.'),
  hostnames: list(hostname({ wildcard: true }).describe('A hostname; `*.example.com` matches its subdomains.'), {
    max: 64,
  })
    .prefault([])
    .describe('Hosts of the route; every host of the listener when empty. On TLS listeners these are server names.'),
  matches: list(routeMatch, { min: 1, max: 64 })
    .optional()
    .describe(
      'The route matches when one of these matches; it matches every request when unset. HTTP and HTTPS listeners only.',
    ),
  policies: routeBlock()
    .optional()
    .describe(
      'Policies of this route; a policy that targets its rule by name takes precedence. On TLS and TCP listeners only `backend` is allowed.',
    ),
  backends: list(backend, { max: 64 })
    .prefault([])
    .describe('Backends of the route; each request goes to one of them, selected by weight.'),
}).describe('A route: matches, policies and backends.')

export type RouteConfig = Output<typeof route>
