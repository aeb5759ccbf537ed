import { list, map, object, type Output, Refusal, scalar, type Schema } from '../schema/kit.ts'
import { printSchema } from '../schema/print/json-schema.ts'
import { atLeastOneOf, atMostOneOf, exactlyOneOf, onlyWith } from '../schema/rules.ts'
import { boolean, duration, enumeration, integer, json, string } from '../schema/fields/values.ts'

/** A file with tests of a config. */

const headerValue = () => string({ max: 65_536 })

/** A value of which the loader checks the parts, because it may have several forms. */
function oneOf(expected: string, ...forms: readonly Schema[]): Schema {
  return scalar<unknown>((input) => input ?? new Refusal('wrong_type'), {
    type: 'object',
    expected,
    json: { anyOf: forms.map(printSchema) },
  })
}

/** A matcher: see the page of the command. */
const matcher = () => json({ max: 1_000_000 })

export const reply = object(
  {
    status: integer({ min: 101, max: 599 }).prefault(200).describe('Status of the response.'),
    headers: map(headerValue().describe('Value of the header.'), { max: 100 })
      .prefault({})
      .describe('Headers of the response.'),
    body: json({ max: 10_000_000 })
      .optional()
      .describe('Body of the response: a text, or any other value, which is sent as JSON.'),
    trailers: map(headerValue().describe('Value of the trailer.'), { max: 100 })
      .optional()
      .describe('Trailers after the body, such as `grpc-status`.'),
    chat: string({ max: 1_000_000 })
      .optional()
      .describe('Answers a model call with this text, in the format of the call.'),
    usage: object({
      input: integer({ min: 0, max: 1_000_000_000 }).describe('Input tokens.'),
      output: integer({ min: 0, max: 1_000_000_000 }).describe('Output tokens.'),
    })
      .optional()
      .describe('Tokens that the answer to a model call reports; counted in words when unset.'),
    mcp: object({
      tools: list(
        object({
          name: string({ min: 1, max: 256 }).describe('Name of the tool.'),
          description: string({ max: 65_536 }).prefault('').describe('Description of the tool.'),
          inputSchema: json({ max: 1_000_000 }).prefault({ type: 'object' }).describe('JSON Schema of the arguments.'),
          result: string({ max: 1_000_000 }).prefault('ok').describe('Text that a call of the tool returns.'),
        }),
        { max: 1_000 },
      ).describe('Tools of the server.'),
    })
      .optional()
      .describe('Answers as an MCP server with these tools.'),
    delay: duration().prefault('0s').describe('Time until the response begins; the virtual clock passes it at once.'),
    fault: enumeration(['refused', 'reset', 'silent'])
      .optional()
      .describe('`refused` refuses the connection, `reset` breaks it without a response, `silent` never responds.'),
  },
  [atMostOneOf('body', 'chat', 'mcp')],
).describe('A response of an upstream.')

const upstreams = () =>
  map(oneOf('a response, or a list of responses', reply, list(reply, { min: 1, max: 1_000 })), { max: 10_000 })
    .prefault({})
    .describe(
      'Responses by `host:port`, by `unix:` and a path, by `stdio:` and the name of an MCP target that is a program, or by `*` for all other servers. Of a list, each request gets the next response, and the last one is repeated.',
    )

const clock = () =>
  string(
    { max: 64 },
    {
      pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
      expected: 'a time such as `2026-01-31T12:00:00Z`',
    },
  )

const world = object({
  clock: clock().prefault('2026-01-01T12:00:00Z').describe('The time at which each test begins.'),
  seed: integer({ min: 0, max: 4_294_967_295 }).prefault(1).describe('Seed of the random source.'),
  env: map(string({ max: 65_536 }).describe('Value of the variable.'), { max: 1_000 })
    .prefault({})
    .describe('Environment variables of the gateway; no other variables exist in the tests.'),
  hosts: map(list(string({ min: 2, max: 64 }).describe('An IP address.'), { max: 100 }), { max: 1_000 })
    .prefault({})
    .describe('Addresses of host names; an empty list is a name that does not resolve.'),
  upstreams: upstreams(),
}).describe('The surroundings of the gateway.')

const given = object({
  jwt: json({ max: 65_536 })
    .optional()
    .describe(
      'Claims of a token. It is signed with a key that the config trusts during the run; `iss`, `aud` and `exp` are those of the policy unless set.',
    ),
  apiKey: string({ min: 1, max: 1_024 })
    .optional()
    .describe('Name of an API key of the config, of which the config may have only a hash; or the key itself.'),
  basic: object({
    username: string({ min: 1, max: 256 }).describe('User name.'),
    password: string({ max: 1_024 }).optional().describe('Password; a password that the config accepts when unset.'),
  })
    .optional()
    .describe('Basic authentication.'),
  address: string({ min: 2, max: 64 }).optional().describe('IP address of the client; `127.0.0.1` when unset.'),
}).describe('The client.')

export const request = object(
  {
    method: string({ min: 1, max: 64 }, { pattern: /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, expected: 'a method' })
      .optional()
      .describe('Method; GET when unset, POST with a body.'),
    path: string({ min: 1, max: 65_536 })
      .optional()
      .describe('Path and query, or a whole URL; `/v1/chat/completions` for `chat` and `/mcp` for `mcp` when unset.'),
    host: string({ min: 1, max: 256 }).optional().describe('Host header; the hostname of the listener when unset.'),
    port: integer({ min: 1, max: 65_535 }).optional().describe('Port; the first one when unset.'),
    version: enumeration(['HTTP/1.1', 'HTTP/2']).optional().describe('HTTP version; HTTP/1.1 when unset.'),
    headers: map(headerValue().describe('Value of the header.'), { max: 200 }).prefault({}).describe('Headers.'),
    body: json({ max: 10_000_000 }).optional().describe('Body: a text, or any other value, which is sent as JSON.'),
    chat: string({ max: 1_000_000 }).optional().describe('Sends this message of a user to a model.'),
    model: string({ min: 1, max: 256 }).optional().describe('The model of `chat`.'),
    stream: boolean().optional().describe('Whether the answer to `chat` is streamed.'),
    mcp: string({ min: 1, max: 256 }).optional().describe('Method of an MCP message, such as `tools/list`.'),
    params: json({ max: 1_000_000 }).optional().describe('Parameters of the MCP message.'),
    grpc: string({ min: 3, max: 256 }, { pattern: /^[\w.]+\/\w+$/, expected: 'a method such as `shop.v1.Orders/Get`' })
      .optional()
      .describe('Calls a gRPC method with an empty message.'),
  },
  [atLeastOneOf('path', 'chat', 'mcp', 'grpc'), atMostOneOf('body', 'chat', 'mcp', 'grpc')],
).describe('A request.')

export const upstreamExpectation = object({
  address: matcher().optional().describe('`host:port` of the upstream.'),
  version: matcher().optional().describe('HTTP version.'),
  method: matcher().optional().describe('Method.'),
  host: matcher().optional().describe('Host header.'),
  path: matcher().optional().describe('Path and query.'),
  headers: map(matcher(), { max: 200 }).optional().describe('Headers; null for an absent header.'),
  body: matcher().optional().describe('Body: text, or parts of a JSON body.'),
}).describe('The request that the upstream received.')

export const expectation = object({
  times: integer({ min: 1, max: 100_000 })
    .optional()
    .describe('In a list: how many requests, one after the other, have this outcome.'),
  route: matcher().optional().describe('Name of the route; null when no route matched.'),
  backend: matcher().optional().describe('Name of the backend; null when no backend was called.'),
  status: matcher().optional().describe('Status of the response; null when there was none.'),
  by: matcher().optional().describe('Policy that responded, such as `authorization`; null when no policy did.'),
  rule: matcher().optional().describe('Number of the authorization rule that denied the request, from 1.'),
  reason: matcher().optional().describe('Cause of the outcome, such as `jwt_expired` or `route_not_found`.'),
  headers: map(matcher(), { max: 200 }).optional().describe('Headers of the response; null for an absent header.'),
  body: matcher().optional().describe('Body of the response: text, or parts of a JSON body.'),
  upstream: scalar<unknown>((input) => input, {
    type: 'object',
    expected: 'the request to the upstream, or null',
    json: { anyOf: [printSchema(upstreamExpectation), { type: 'null' }] },
  })
    .optional()
    .describe('The last request to the upstream of the backend; null when none was sent.'),
  llm: map(matcher(), { max: 20 })
    .optional()
    .describe(
      'The model call: `provider`, `model`, `answeredBy`, `inputTokens`, `outputTokens`, `cost` in US dollars, `cache`.',
    ),
  tools: matcher().optional().describe('Names of the tools that a `tools/list` offers.'),
  cel: string({ min: 1, max: 16_384 })
    .optional()
    .describe('A CEL expression over the variables of access logs that must be true.'),
}).describe('The expected outcome.')

const send = () =>
  oneOf('a request such as `GET /path`', string({ max: 65_536 }), request).describe(
    'A request: `GET /path`, or a mapping.',
  )
const expect = () =>
  oneOf('an outcome, or a list of outcomes', expectation, list(expectation, { min: 1, max: 1_000 })).describe(
    'The expected outcome; a list describes several requests in order.',
  )
const repeat = () => integer({ min: 1, max: 100_000 }).optional().describe('Sends the request so many times.')

const step = object({
  given: given.optional().describe('The client; that of the test when unset.'),
  after: duration().optional().describe('Time that passes before the request.'),
  repeat: repeat(),
  send: send(),
  expect: expect(),
}).describe('A request and its outcome.')

const test = object(
  {
    name: string({ min: 1, max: 256 }).describe('Name of the test; unique in the file.'),
    clock: clock().optional().describe('The time at which the test begins; that of `world` when unset.'),
    given: given.optional().describe('The client of all requests of the test.'),
    upstreams: upstreams().describe('Responses that replace those of `world` for the same upstream.'),
    repeat: repeat(),
    send: send().optional(),
    expect: expect().optional(),
    requests: list(step, { min: 1, max: 1_000 })
      .optional()
      .describe('Requests in order; counters of limits and budgets are kept between them.'),
  },
  [
    exactlyOneOf('send', 'requests'),
    onlyWith('expect', 'send'),
    onlyWith('send', 'expect'),
    onlyWith('repeat', 'send'),
  ],
).describe('A test: counters begin empty, and the clock stands still unless a test moves it.')

export const testFile = object({
  config: string({ min: 1, max: 4_096 }).describe(
    'The config: a file, or a file or folder of manifests, relative to this file.',
  ),
  gateway: string({ min: 3, max: 512 }).optional().describe('With manifests: the Gateway, as `namespace/name`.'),
  world: world.prefault({}),
  tests: list(test, { min: 1, max: 10_000, uniqueBy: 'name' }).describe('The tests.'),
}).describe('Tests of a config.')

export type TestFile = Output<typeof testFile>
export type Reply = Output<typeof reply>
export type Request = Output<typeof request>
export type Expectation = Output<typeof expectation>
export type UpstreamExpectation = Output<typeof upstreamExpectation>
export type GivenClient = Output<typeof given>
