import * as fc from 'fast-check'
import { auth, durations, frontend, hosts, mostly, odd, optional, policies, some, texts, tls } from './policies.ts'

/** Generates blocks of at most two policies, because with more policies most routes would be closed. */
function block(table: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<Record<string, unknown>> {
  const entry = fc
    .constantFrom(...Object.keys(table))
    .chain((name) => (table[name] ?? odd).map((value) => [name, value] as const))
  return fc.array(entry, { maxLength: 2 }).map((entries) => Object.fromEntries(entries))
}

const routePolicies = block(policies)
const ofBackends = [
  'ai',
  'mcpAuthorization',
  'requestHeaderModifier',
  'responseHeaderModifier',
  'transformations',
  'extAuthz',
]
const backendPolicies = block({
  ...Object.fromEntries(ofBackends.map((name) => [name, policies[name] ?? odd])),
  backendTLS: tls,
  backendAuth: auth,
  http: fc.record({ version: some('HTTP/1.1', 'HTTP/2.0', 'x'), requestTimeout: durations }, optional),
  tcp: fc.record({ connectTimeout: durations, keepalives: odd }, optional),
  health: fc.record({ unhealthyExpression: some('response.code > 500', 'x'), eviction: odd }, optional),
})
const names = some('a', 'route1', 'B c', '', '$NAME', '__proto__')
const provider = fc.record(
  {
    name: names,
    provider: some<unknown>(
      ...[
        { openAI: { model: 'm' } },
        { openAI: null },
        { anthropic: {} },
        { gemini: { model: '$MODEL' } },
        { vertex: { projectId: 'p' } },
      ],
      ...[
        { bedrock: { region: 'r', guardrailIdentifier: 'g', guardrailVersion: '1' } },
        { azureOpenAI: { host: 'h.test', model: 'm' } },
      ],
      ...[{ azure: { resourceName: 'r', resourceType: 'openAI' } }, { copilot: {} }, { odd: {} }, 'openAI'],
    ),
    hostOverride: hosts,
    pathOverride: some('/p', 'odd'),
    pathPrefix: some('/v2'),
    tokenize: odd,
    policies: backendPolicies,
  },
  { requiredKeys: ['provider'] },
)
const address = fc.record(
  {
    host: some('m.test', 'https://m.test/mcp', 'http://m.test:90', '$HOST', 'a b'),
    port: some<unknown>(80, '$PORT', 0),
    path: some('/mcp', 'odd'),
    backend: some('named'),
    schema: some<unknown>({ file: 'f' }, { url: 'u' }, '{}'),
  },
  optional,
)
const target = fc.record(
  {
    name: some('one', 'two', 'Three_3'),
    mcp: address,
    sse: address,
    stdio: fc.record({ cmd: some('npx'), args: texts('a'), env: some({ A: '$B' }), clear_env: odd }, optional),
    openapi: address,
    policies: backendPolicies,
  },
  optional,
)
const mcp = fc.record(
  {
    targets: fc.array(target, { maxLength: 2 }),
    statefulMode: some('stateless', 'x'),
    prefixMode: some('always'),
    failureMode: some('failOpen'),
  },
  optional,
)
const ai = fc.oneof(
  provider,
  fc.record({ groups: fc.array(fc.record({ providers: fc.array(provider, { maxLength: 2 }) }), { maxLength: 2 }) }),
)
const backend = fc.oneof(
  { weight: 4, arbitrary: hosts.map((host) => ({ host })) },
  mostly<object, object>(
    [{ backend: '/named' }, { dynamic: {} }],
    [{ backend: 'x' }, { service: {} }, { invalid: null }],
  ),
  ...[ai.map((each) => ({ ai: each })), mcp.map((each) => ({ mcp: each }))],
)
const backends = fc.array(
  fc
    .tuple(backend, fc.record({ weight: odd, policies: backendPolicies }, optional))
    .map(([one, other]) => ({ ...other, ...one })),
  { maxLength: 2 },
)
const value = mostly<object, object>([{ exact: 'v' }, { regex: 'v.*' }], [{ regex: '(?!x)' }])
const match = fc.record(
  {
    path: mostly<object, object>(
      [{ pathPrefix: '/a' }, { exact: '/a' }, { regex: '/[ab]+' }, { regex: ['/x', 2] }],
      [{ pathPrefix: 'a' }],
    ),
    method: mostly<unknown, unknown>(['GET', 'POST', { method: 'PUT' }], ['a b']),
    headers: fc.array(fc.record({ name: some('x-a', ':authority'), value }), { maxLength: 2 }),
    query: fc.array(fc.record({ name: some('q'), value }), { maxLength: 1 }),
  },
  optional,
)
const route = fc.record(
  {
    name: names,
    namespace: names,
    hostnames: mostly([[], ['a.test'], ['*.b.test', 'a.test']], [['A b']]),
    matches: fc.array(match, { maxLength: 2 }),
    policies: routePolicies,
    backends,
  },
  { requiredKeys: ['backends'] },
)
const tcpRoute = fc.record(
  { name: names, hostnames: texts('a.test'), backends, policies: block({ backendTLS: tls }) },
  optional,
)
const EARLY = [
  'cors',
  'jwtAuth',
  'basicAuth',
  'apiKey',
  'oidc',
  'authorization',
  'extAuthz',
  'extProc',
  'transformations',
]
const listenerPolicies = block(Object.fromEntries(EARLY.map((name) => [name, policies[name] ?? odd])))
const listener = fc.record(
  {
    name: names,
    hostname: mostly(['a.test', '*.a.test', '*'], ['A b']),
    routes: fc.array(route, { maxLength: 3 }),
    policies: listenerPolicies,
  },
  { requiredKeys: ['routes'] },
)
const secure = fc.record({
  protocol: mostly(['HTTPS'], ['HBONE']),
  tls: mostly<object | null, object | null>(
    [{ cert: 'c', key: 'k', minTLSVersion: 'TLS_V1_2' }],
    [{ cert: 'c' }, null],
  ),
  routes: fc.array(route, { maxLength: 1 }),
})
const connections = fc.record({ protocol: some('TCP', 'TLS'), tcpRoutes: fc.array(tcpRoute, { maxLength: 2 }) })
const listeners = fc.oneof(
  { weight: 6, arbitrary: fc.array(listener, { minLength: 1, maxLength: 2 }) },
  { weight: 1, arbitrary: fc.tuple(secure) },
  { weight: 1, arbitrary: fc.tuple(connections) },
)
const bind = fc.record(
  {
    port: mostly<unknown, unknown>([3000, 3001, 3002], ['$PORT', 'x']),
    tunnelProtocol: mostly(['direct'], ['proxy']),
    listeners,
  },
  { requiredKeys: ['port', 'listeners'] },
)

const gateway = fc.record(
  {
    port: some(8080, 8081),
    protocol: some('HTTP', 'HTTPS'),
    listeners: fc.array(fc.record({ name: some('a', 'b'), hostname: some('a.test', '*.b.test') }, optional), {
      minLength: 1,
      maxLength: 2,
    }),
    apiKey: policies['apiKey'] ?? odd,
    cors: policies['cors'] ?? odd,
  },
  { requiredKeys: ['port'] },
)
const attached = fc
  .tuple(
    route,
    fc.record({ gateways: some<unknown>('default', ['other', 'default'], 'default/a', 'nowhere') }, optional),
  )
  .map(([one, other]) => ({ ...one, ...other }))
const model = fc.record(
  {
    name: some('one', 'two', 'gpt-*', 'gpt-4', '*', 'a b'),
    provider: mostly<unknown, unknown>(['openAI', 'anthropic', 'bedrock', 'vertex'], [{ custom: {} }, 'odd']),
    params: fc.record(
      {
        model: some('m'),
        apiKey: some<unknown>('$KEY', 'literal', { file: 'k' }),
        baseUrl: mostly(['http://a.test:8000/v1', 'https://b.test/x'], ['odd']),
        awsRegion: some('us-east-1'),
        vertexProject: some('p'),
        tokenize: odd,
      },
      optional,
    ),
    visibility: mostly(['internal', 'public'], ['odd']),
    matches: mostly<unknown, unknown>([[]], [[{ headers: [] }]]),
    defaults: some({ a: 1 }, {}),
    guardrails: some<unknown>({ request: [{ regex: { rules: [{ builtin: 'email' }] } }] }, { response: [{ odd: {} }] }),
    requestHeaders: some<unknown>({ set: { a: 'b' } }, {}),
    auth,
    tls,
  },
  { requiredKeys: ['name', 'provider'] },
)
const llm = fc.record(
  {
    port: some(4000, 3000),
    models: fc.array(model, { minLength: 1, maxLength: 3 }),
    virtualModels: fc.array(
      fc.record({
        name: some('v', 'one'),
        routing: some<unknown>(
          { weighted: { targets: [{ model: 'one', weight: 1 }] } },
          { failover: { targets: [{ model: 'nobody', priority: 1 }] } },
          { odd: {} },
        ),
      }),
      { maxLength: 1 },
    ),
    policies: routePolicies,
    gateways: some('default'),
    providers: some([]),
  },
  { requiredKeys: ['models'] },
)
const targeted = fc.record(
  {
    name: some({ name: 'p', namespace: 'default' }),
    target: mostly<unknown, unknown>(
      [
        { gateway: { gatewayName: 'default', gatewayNamespace: 'default' } },
        { gateway: { port: 3000 } },
        { route: { name: 'a', namespace: 'default' } },
      ],
      [{ backend: { backend: { name: 'named' } } }, {}],
    ),
    phase: some('route', 'gateway'),
    policy: fc.oneof(routePolicies, listenerPolicies),
  },
  { requiredKeys: ['target', 'policy'] },
)
const settings = fc.record(
  {
    adminAddr: some('localhost:15001', 'odd'),
    logging: fc.record(
      {
        level: some<unknown>('info', 'a=b', ['x']),
        format: some('json', 'odd'),
        filter: some('response.code > 400', 'x'),
        fields: some({ add: { a: 'jwt.sub' }, remove: ['tls'] }),
      },
      optional,
    ),
    tracing: fc.record(
      {
        otlpEndpoint: some('http://c.test:4317', 'https://c.test:4318/v1/traces', 'odd'),
        otlpProtocol: some('http'),
        headers: some({ a: 'b' }),
        randomSampling: some<unknown>(true, '0.1', 2),
      },
      optional,
    ),
    metrics: some<unknown>(
      { fields: { add: { a: 'jwt.sub' } } },
      { fields: { add: { 'b c': 'x' } } },
      { remove: ['a'] },
    ),
    dns: some({ lookupFamily: 'V4Only' }, { lookupFamily: 'x' }),
    backend: fc.record({ connectTimeout: durations, poolMaxSize: odd, keepalives: odd }, optional),
    workerThreads: some<unknown>('4', '50%', 2),
    session: odd,
    zzz: odd,
  },
  optional,
)

/** Generates config files whose fields mostly have a counterpart in Portico, and sometimes have unexpected values. */
export const files = fc.record(
  {
    config: settings,
    frontendPolicies: block(frontend),
    binds: fc.array(bind, { minLength: 1, maxLength: 2 }),
    gateways: fc.dictionary(some('default', 'other'), gateway, { maxKeys: 2 }),
    routes: fc.array(attached, { maxLength: 2 }),
    policies: fc.array(targeted, { maxLength: 1 }),
    llm,
    mcp: fc
      .tuple(mcp, fc.record({ port: some(3500), gateways: some('default'), policies: routePolicies }, optional))
      .map(([one, other]) => ({ ...one, ...other })),
    backends: fc.array(
      fc
        .tuple(backend, fc.record({ policies: backendPolicies }, optional))
        .map(([one, other]) => ({ name: 'named', ...other, ...one })),
      { maxLength: 1 },
    ),
    services: odd,
    workloads: odd,
    unknownSection: odd,
  },
  { requiredKeys: [] },
)
