import * as fc from 'fast-check'

export const some = <Value>(...found: Value[]): fc.Arbitrary<Value> => fc.constantFrom(...found)

/** Generates values that mostly have a counterpart in Portico; one value in 25 has none. */
export function mostly<Value, Other>(good: readonly Value[], bad: readonly Other[]): fc.Arbitrary<Value | Other> {
  return fc.oneof(
    { weight: 24, arbitrary: some<Value | Other>(...good) },
    { weight: 1, arbitrary: some<Value | Other>(...bad) },
  )
}

export const optional = { requiredKeys: [] as [] }

/** Generates values that no field expects, such as texts in place of numbers. */
export const odd = fc.oneof(
  {
    weight: 4,
    arbitrary: some<unknown>(0, 1, 5, 2.5, -3, true, false, null, '', 'text', '$NAME', '${A:-b}/x', [], {}),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
)

export const texts = (...found: string[]): fc.Arbitrary<string[]> => fc.array(some(...found), { maxLength: 3 })
const headers = fc.dictionary(some('x-a', 'x-b', 'host', 'x c', '__proto__'), some<unknown>('1', 'a"b', '$VALUE', 5))
const expressions = mostly(
  ['jwt.sub == "a"', 'apiKey.group in ["a"]', 'request.headers["x-a"] == "b"', 'source.address == "10.0.0.1"'],
  ['jwt.rawToken', 'unknown.name', 'mcp.tool.name == "t"', 'response.code == 200', 'llm.prompt', '1 +', ''],
)
const computed = fc.dictionary(mostly(['x-a', ':path'], ['x c']), expressions, { maxKeys: 3 })
const transform = fc.record(
  { set: computed, add: computed, remove: texts('x-a'), body: expressions, metadata: computed },
  optional,
)
export const durations = mostly<unknown, unknown>(['1s', '10s', '60s', '24h', '500ms', '1h30m'], ['0s', 'x', 5])
const modes = mostly<unknown, unknown>(['strict', 'optional', 'permissive'], ['odd', null])
const locations = fc.record(
  {
    header: fc.record({ name: some('x-key', 'a b'), prefix: some('Bearer ', '') }, optional),
    cookie: odd,
    expression: odd,
  },
  optional,
)
export const hosts = mostly<unknown, unknown>(
  ['127.0.0.1:9000', 'a.test:80', '[::1]:90', '$HOST:80'],
  ['https://b.test', 'http://c.test:8080', '$ADDRESS', 'odd', 'unix:/run/a'],
)
const rules = fc.record({
  rules: fc.array(
    fc.oneof(
      expressions,
      fc.record({ allow: expressions }),
      fc.record({ deny: expressions }),
      fc.record({ require: expressions }),
    ),
    { maxLength: 3 },
  ),
})
const jwks = some<unknown>({ url: 'https://i.test/jwks' }, { url: 'odd' }, '{"keys":[]}', { inline: 'x' })
const service = {
  host: hosts,
  backend: some('/named', 'nobody'),
  policies: fc.record({ backendTLS: some<unknown>({}, { insecure: true }), zzz: odd }, optional),
}
const limit = fc.record(
  {
    maxTokens: some(1, 10, 100, 0),
    tokensPerFill: some(1, 10, 0),
    fillInterval: durations,
    type: some('requests', 'tokens', 'odd'),
  },
  optional,
)
const authority = some<unknown>(
  'auto',
  'none',
  { full: 'a.test' },
  { host: 'b.test' },
  { port: 80 },
  { auto: {} },
  { full: 'a b' },
)
const path = some<unknown>({ full: '/x' }, { prefix: '/y' }, { full: 'x?' }, {})
const guard = fc.record(
  {
    regex: fc.record(
      {
        action: some<unknown>('mask', 'reject', { reject: {} }),
        rules: fc.array(some<unknown>({ builtin: 'email' }, { pattern: '[a' }, { pattern: 'a+' }, { builtin: 'x' }), {
          maxLength: 2,
        }),
      },
      optional,
    ),
    webhook: fc.record({ target: fc.record({ host: hosts }), failureMode: some('failOpen', 'x') }, optional),
    openAIModeration: fc.record({ model: odd, policies: some({ backendAuth: { key: '$KEY' } }) }, optional),
    rejection: some<unknown>({ body: 'no', status: 400 }, { body: [110, 111], headers: {} }, { status: 'x' }),
  },
  optional,
)
export const tls = fc.record(
  {
    hostname: some('a.test', 'A b'),
    insecure: odd,
    insecureHost: odd,
    root: some<unknown>('ca.pem', { file: 'x' }, '-----BEGIN'),
    alpn: texts('h2', 'x'),
    subjectAltNames: texts('a'),
  },
  optional,
)
export const auth = some<unknown>(
  ...[
    { key: '$KEY' },
    { key: 'literal-key' },
    { key: { file: 'k' } },
    { key: { value: 'abc', location: { cookie: { name: 'c' } } } },
  ],
  ...[
    { passthrough: {} },
    { gcp: {} },
    { gcp: { type: 'idToken', audience: 'a' } },
    { aws: {} },
    { aws: { accessKeyId: 'a', secretAccessKey: '$S' } },
  ],
  ...[{ azure: {} }, { copilot: {} }, { a: 1, b: 2 }, 'odd'],
)

const fields = fc.dictionary(some('x', 'http.method'), expressions, { maxKeys: 2 })
const collector = {
  host: hosts,
  policies: some<unknown>({ backendTLS: {} }, { requestHeaderModifier: { set: { a: '$B' } } }),
}

/** Generates frontend policies, which apply to all connections. */
export const frontend: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  http: fc.record({ maxBufferSize: odd, http1IdleTimeout: durations, http1MaxHeaders: some(5) }, optional),
  tcp: fc.record({ keepalives: odd }, optional),
  tls: fc.record({ minVersion: some('TLS_V1_2', 'TLS_V1_3'), alpn: some(['h2'], [[104, 50]]) }, optional),
  networkAuthorization: fc.record({
    rules: fc.array(some('source.address == "10.0.0.1"', 'jwt.sub == "a"'), { maxLength: 2 }),
  }),
  proxyProtocol: fc.record({ version: some('v1', 'all'), mode: some('optional') }, optional),
  connect: odd,
  accessLog: fc.record(
    { filter: expressions, add: fields, remove: texts('http.method', 'odd'), otlp: fc.record(collector, optional) },
    optional,
  ),
  tracing: fc.record(
    {
      ...collector,
      attributes: fields,
      resources: fields,
      randomSampling: some<unknown>(true, '0.5', 'jwt.sub'),
      protocol: some('http'),
    },
    optional,
  ),
}

/** Generates route policies. */
export const policies: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  cors: fc.record(
    { allowOrigins: texts('*', 'https://a.test', 'odd'), allowMethods: texts('GET'), maxAge: durations, zzz: odd },
    optional,
  ),
  jwtAuth: fc.record(
    {
      mode: modes,
      issuer: some('https://i.test', ''),
      audiences: texts('a'),
      jwks,
      location: locations,
      providers: fc.array(fc.record({ issuer: some('b'), jwks }), { maxLength: 1 }),
      jwtValidationOptions: some({ requiredClaims: ['exp'] }, { requiredClaims: [] }, { requiredClaims: ['nbf'] }),
    },
    optional,
  ),
  mcpAuthentication: fc.record(
    {
      mode: modes,
      issuer: some('https://i.test/', 'odd'),
      jwks,
      provider: some<unknown>({ auth0: {} }, { keycloak: null }, { okta: {} }, 'auth0'),
      resourceMetadata: odd,
      scopes: texts('a'),
    },
    optional,
  ),
  basicAuth: fc.record(
    {
      mode: modes,
      realm: odd,
      htpasswd: some<unknown>('u:{SHA}qUqP5cyxm6YcTAhz05Hph5gvu9M=\n', 'u:plain', { file: 'users' }),
    },
    optional,
  ),
  apiKey: fc.record(
    {
      mode: modes,
      keys: fc.array(
        fc.record(
          {
            key: some<unknown>('a-secret-key', 'short', '$A_KEY', 7),
            metadata: some<unknown>({ name: 'a' }, { user: 'b', x: 1 }, { name: 5 }, {}),
            allowedModels: texts('m'),
          },
          optional,
        ),
        { maxLength: 3 },
      ),
      location: locations,
    },
    optional,
  ),
  oidc: odd,
  authorization: rules,
  mcpAuthorization: rules,
  extAuthz: fc.record(
    {
      ...service,
      protocol: some<unknown>({ grpc: { context: { a: 'b' } } }, { http: { path: '"/a"', redirect: 'x.y' } }, {}),
      failureMode: some<unknown>('allow', 'deny', { denyWithStatus: 500 }),
      includeRequestHeaders: texts('x-a'),
      includeRequestBody: some({ maxRequestBytes: 5, allowPartialMessage: true }, { maxRequestBytes: 5 }),
      cache: odd,
    },
    optional,
  ),
  extProc: fc.record(
    {
      ...service,
      failureMode: some('failOpen', 'odd'),
      processingOptions: some<unknown>({ requestBodyMode: 'buffered' }, { requestBodyMode: 'x' }),
    },
    optional,
  ),
  transformations: fc.oneof(
    fc.record({ request: transform, response: transform }, optional),
    fc.record({
      conditional: fc.array(fc.record({ condition: expressions, request: transform }, optional), { maxLength: 2 }),
    }),
  ),
  localRateLimit: fc.oneof(
    fc.array(limit, { maxLength: 2 }),
    fc.record({ conditional: fc.array(limit, { maxLength: 2 }) }),
  ),
  remoteRateLimit: fc.record(
    {
      ...service,
      domain: some('d', ''),
      descriptors: fc.array(
        fc.record(
          {
            entries: fc.array(fc.record({ key: some('k'), value: expressions }), { maxLength: 2 }),
            type: some('requests', 'tokens', 'odd'),
            cost: expressions,
          },
          optional,
        ),
        { maxLength: 2 },
      ),
    },
    optional,
  ),
  csrf: fc.record({ additionalOrigins: texts('https://a.test', 'odd') }, optional),
  requestHeaderModifier: fc.record({ set: headers, add: headers, remove: texts('x-a', 'y z') }, optional),
  responseHeaderModifier: fc.record({ set: headers, add: headers, remove: texts('x-a', 'y z') }, optional),
  requestRedirect: fc.record({ scheme: some('https', 'ftp'), authority, path, status: some(301, 418) }, optional),
  urlRewrite: fc.record({ authority, path, zzz: odd }, optional),
  requestMirror: fc.record(
    { backend: fc.record({ host: hosts, backend: some('named', 'x') }, optional), percentage: odd },
    optional,
  ),
  directResponse: fc.record(
    {
      status: some(200, 418, 99),
      body: some<unknown>('hello', '', [104, 105]),
      headers: some({ a: '"b"' }, { a: 'jwt.sub' }),
      bodyExpression: expressions,
    },
    optional,
  ),
  timeout: fc.record({ requestTimeout: durations, backendRequestTimeout: durations }, optional),
  retry: fc.record(
    {
      attempts: odd,
      backoff: durations,
      codes: some<unknown>([503], [200], 'x'),
      precondition: expressions,
      condition: expressions,
    },
    optional,
  ),
  delay: fc.record({ duration: durations }, optional),
  buffer: odd,
  ai: fc.record(
    {
      promptGuard: fc.record(
        { request: fc.oneof(guard, fc.array(guard, { maxLength: 2 })), response: fc.array(guard, { maxLength: 1 }) },
        optional,
      ),
      prompts: some<unknown>({ prepend: [{ role: 'system', content: 'x' }] }, { append: [{ role: 'odd' }] }),
      defaults: odd,
      overrides: odd,
      transformations: computed,
      modelAliases: some<unknown>({ a: 'b' }, { a: 1 }),
      promptCaching: odd,
      routes: some({ '*': 'completions' }, { '/x': 'odd' }),
    },
    optional,
  ),
  backendTLS: tls,
  backendAuth: auth,
  backendTunnel: fc.record({ proxy: fc.record({ host: hosts }) }, optional),
  a2a: some({}),
  geoFence: odd,
}
