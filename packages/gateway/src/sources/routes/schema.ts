import { aiBackend } from '../../backends/ai/schema.ts'
import { mcpBackend } from '../../backends/mcp/schema.ts'
import { awsBackend } from '../../backends/agent-core/schema.ts'
import { dynamicForwardProxy } from '../../backends/dynamic-forward-proxy/schema.ts'
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
    exact: string({ max: 4_096 }).optional().describe('The whole value, letter by letter.'),
    regex: regex().optional().describe('A pattern that the whole value must match.'),
  },
  [exactlyOneOf('exact', 'regex')],
)

/** Which requests a route is for. */
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
    .describe('The method of the request, in exact letter case.'),
  headers: list(
    object({
      name: readableHeaderName().describe('Header name, or `:method`, `:authority`, `:path`, `:scheme`.'),
      value: value.describe('What the value must be.'),
    }).describe('A header that must be there.'),
    { max: 16 },
  )
    .prefault([])
    .describe('Headers that must all match.'),
  query: list(
    object({
      name: string({ min: 1, max: 256 }).describe('Name of the parameter.'),
      value: value.describe('What the value must be.'),
    }).describe('A parameter that must be there.'),
    { max: 16 },
  )
    .prefault([])
    .describe('Query parameters that must all match.'),
}).describe('Conditions that must all hold.')

const backend = object(
  {
    weight: integer({ min: 0, max: 1_000_000 })
      .prefault(1)
      .describe('Share of the requests, in proportion to the other backends of the route.'),
    backend: backendName().optional().describe('Name of a backend of the top-level `backends`.'),
    host: hostTarget().optional().describe('Destination as `host:port`, `[ipv6]:port` or `unix:/path`.'),
    dynamicForwardProxy: dynamicForwardProxy.optional().describe('Sends each request to the host that it names.'),
    ai: aiBackend(backendBlock).optional().describe('Large language models.'),
    mcp: mcpBackend(targetBlock).optional().describe('Servers of the Model Context Protocol.'),
    aws: awsBackend.optional(),
    policies: backendBlock().optional().describe('Policies for this backend, in this route only.'),
  },
  [exactlyOneOf('backend', 'host', 'dynamicForwardProxy', 'ai', 'mcp', 'aws')],
).describe('A destination.')

export const route = object({
  name: objectName().optional().describe('Name in traces, logs and metrics; `route<index>` when unset.'),
  ruleName: fileOnly(
    objectName()
      .optional()
      .describe('Name of this rule: entries with one name and different rule names are one route with several rules.'),
  ),
  labels: labels().prefault({}).describe('Labels that policies select routes by.'),
  hostnames: list(hostname({ wildcard: true }).describe('A hostname; `*.example.com` covers its subdomains.'), {
    max: 64,
  })
    .prefault([])
    .describe('Hosts of the route; every host of the listener when empty. On TLS listeners these are server names.'),
  matches: list(routeMatch, { min: 1, max: 64 })
    .optional()
    .describe('The route is taken when one of these matches; every request when unset. HTTP and HTTPS listeners only.'),
  policies: routeBlock()
    .optional()
    .describe(
      'Policies of this route; those that target its rule by name are nearer. On TLS and TCP listeners only `backend` is allowed.',
    ),
  backends: list(backend, { max: 64 }).prefault([]).describe('Where requests go, one of them by weight.'),
}).describe('A rule that sends requests to backends.')

export type RouteConfig = Output<typeof route>
