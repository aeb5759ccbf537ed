import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { loadConfig, printProblem } from '../../../gateway/src/sources/config-file.ts'
import { printImport } from '../core/print-import.ts'
import { importKong } from './import-kong.ts'

const some = <Value>(...found: Value[]): fc.Arbitrary<Value> => fc.constantFrom(...found)
const optional = { requiredKeys: [] as [] }
const odd = fc.oneof(
  {
    weight: 4,
    arbitrary: some<unknown>(0, 1, 5, 60_000, 2.5, true, false, null, '', 'text', '$NAME', '{vault://env/key}'),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
)
const texts = (...found: string[]): fc.Arbitrary<string[]> => fc.array(some(...found), { maxLength: 3 })
const names = some('alice', 'bob', 'a b', 'zoe@x')
const groups = texts('staff', 'guests', 'none')
const headers = texts(
  'X-A:b',
  'x-b',
  'Authorization:Bearer s3cret',
  'Host:other.test',
  'x c:d',
  'X-D:$(headers.a)',
  'X-E:$VALUE',
)
const changes = fc.record(
  { headers, querystring: texts('a:b', 'c'), uri: some('/new', '/$(x)', ''), body: odd, json: odd },
  optional,
)

/**
 * Generates configs of plugins whose fields mostly have a counterpart in the gateway, and sometimes have unexpected
 * values.
 */
const configs: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  'key-auth': fc.record(
    {
      key_names: texts('apikey', 'Authorization', 'a b'),
      key_in_query: odd,
      key_in_header: odd,
      hide_credentials: odd,
      anonymous: some('alice', 'nobody', '', null),
    },
    optional,
  ),
  'basic-auth': fc.record({ hide_credentials: odd, anonymous: some('bob', null) }, optional),
  jwt: fc.record(
    { key_claim_name: some('iss', 'kid'), claims_to_verify: texts('exp', 'nbf'), maximum_expiration: odd },
    optional,
  ),
  acl: fc.record({ allow: groups, deny: groups, whitelist: groups, hide_groups_header: odd }, optional),
  'rate-limiting': fc.record(
    {
      second: odd,
      minute: odd,
      hour: odd,
      day: odd,
      limit_by: some('consumer', 'ip', 'service', 'header', 'path', 'odd'),
      header_name: some('x-a', 'b c', null),
      policy: some('local', 'redis'),
      redis_host: odd,
    },
    optional,
  ),
  'rate-limiting-advanced': fc.record(
    {
      limit: fc.array(odd, { maxLength: 2 }),
      window_size: fc.array(some(1, 60, 3600, 7), { maxLength: 2 }),
      identifier: some('ip', 'consumer'),
    },
    optional,
  ),
  cors: fc.record(
    {
      origins: texts('*', 'https://a.test', 'a.test', '.*\\.b\\.test'),
      methods: texts('GET', 'a b'),
      headers: texts('X-A', 'b c'),
      credentials: odd,
      max_age: odd,
      preflight_continue: odd,
    },
    optional,
  ),
  'ip-restriction': fc.record(
    { allow: texts('10.0.0.0/8', '::1', 'odd'), deny: texts('192.0.2.7'), status: odd },
    optional,
  ),
  'bot-detection': fc.record({ allow: texts('good.*'), deny: texts('bad', '(?!x)', 'a"b') }, optional),
  'request-termination': fc.record(
    { status_code: odd, message: odd, body: odd, content_type: odd, trigger: some('x-stop', 'a b'), echo: odd },
    optional,
  ),
  redirect: fc.record(
    {
      status_code: some(301, 308, 200),
      location: some('https://b.test/x', '/y', 'https://b.test'),
      keep_incoming_path: odd,
    },
    optional,
  ),
  'request-size-limiting': fc.record(
    { allowed_payload_size: odd, size_unit: some('bytes', 'kilobytes', 'odd'), require_content_length: odd },
    optional,
  ),
  'request-transformer': fc.record(
    {
      http_method: some('POST', 'odd', null),
      remove: changes,
      rename: changes,
      replace: changes,
      add: changes,
      append: changes,
    },
    optional,
  ),
  'response-transformer': fc.record({ remove: changes, replace: changes, add: changes, append: changes }, optional),
  'correlation-id': fc.record({ header_name: some('X-Id', 'a b'), generator: odd, echo_downstream: odd }, optional),
  prometheus: odd,
  'ai-proxy': fc.record(
    {
      route_type: some('llm/v1/chat', 'preserve'),
      model: fc.record(
        {
          provider: some('openai', 'anthropic', 'azure', 'ollama', 'odd'),
          name: some('m', '$(x)', null),
          options: fc.record(
            {
              temperature: odd,
              upstream_url: some('http://m.test:8000/v1/chat/completions', 'odd', 'https://m.test:9/x'),
              azure_instance: some('a'),
              max_tokens: odd,
            },
            optional,
          ),
        },
        optional,
      ),
      auth: fc.record(
        {
          header_name: some('Authorization', 'x-api-key'),
          header_value: some('Bearer s3cret', '{vault://env/k}', ''),
          param_name: some('key'),
          param_value: some('$P_KEY'),
        },
        optional,
      ),
    },
    optional,
  ),
  'ai-prompt-guard': fc.record({ deny_patterns: texts('a', '(?!x)'), allow_patterns: texts('b') }, optional),
  'ai-prompt-decorator': fc.record(
    { prompts: fc.record({ prepend: fc.constant([{ role: 'system', content: 'x' }]) }, optional) },
    optional,
  ),
  oauth2: odd,
  'my-plugin': odd,
}
const plugin = fc.constantFrom(...Object.keys(configs)).chain((name) =>
  fc.record(
    {
      name: fc.constant(name),
      config: configs[name] ?? odd,
      enabled: some(true, true, true, false),
      protocols: fc.subarray(['http', 'https']),
      consumer: names,
      route: some('r0', 'none'),
      service: some('s0', 's1'),
      tags: odd,
    },
    { requiredKeys: ['name', 'config'] },
  ),
)
const ownPlugin = fc
  .constantFrom(...Object.keys(configs))
  .chain((name) => fc.record({ name: fc.constant(name), config: configs[name] ?? odd }, { requiredKeys: ['name'] }))
const plugins = fc.array(plugin, { maxLength: 3 })
const ownPlugins = fc.array(ownPlugin, { maxLength: 3 })
const route = fc.record(
  {
    name: some('r0', 'r1', 'r/2'),
    paths: texts(
      '/',
      '/a',
      '/a/',
      '/a/b',
      '~/v\\d+',
      '~/x$',
      '~/(?!y)z',
      '/odd path',
      '~/u/(?<id>\\w+)/t',
      '/a/[0-9]+',
    ),
    hosts: texts('a.test', '*.a.test', 'b.*', 'c.test:8000', 'odd host', '$HOST_NAME'),
    methods: texts('GET', 'post', 'PURGE'),
    headers: fc.dictionary(some('x-a', 'Host', 'odd name'), texts('v', '~*^w', '~*(?!q)')),
    protocols: fc.subarray(['http', 'https', 'grpc', 'tcp']),
    strip_path: odd,
    preserve_host: odd,
    path_handling: some('v0', 'v1'),
    regex_priority: odd,
    snis: texts('a.test'),
    https_redirect_status_code: some(301, 426),
    expression: some('http.path == "/x"'),
    tags: odd,
    plugins: ownPlugins,
  },
  { requiredKeys: ['paths'], noNullPrototype: true },
)
const service = fc.record(
  {
    name: some('s0', 's1', 's_2'),
    url: some(
      'http://one.test:9000/base',
      'https://two_b.test',
      'http://10.0.0.1/b/',
      'odd',
      'http://$HOST:80/x',
      'tcp://a:1',
    ),
    host: some('up', 'one.test'),
    port: odd,
    protocol: some('http', 'https', 'grpc', 'tls'),
    path: some('/p', '/p/', '/'),
    retries: odd,
    connect_timeout: odd,
    read_timeout: odd,
    write_timeout: odd,
    tls_verify: odd,
    ca_certificates: texts('a'),
    enabled: some(true, true, false),
    routes: fc.array(route, { maxLength: 3 }),
    plugins: ownPlugins,
  },
  { requiredKeys: ['routes'] },
)
const consumer = fc.record(
  {
    username: names,
    custom_id: some('7', 'x'),
    keyauth_credentials: fc.array(
      fc.record({
        key: some('a-secret-key', 'another-key', 'short', 'Bearer abcdefgh', '$A_KEY', '{vault://env/b-key}'),
      }),
      { maxLength: 2 },
    ),
    basicauth_credentials: fc.array(
      fc.record({ username: some('u1', 'u:2', '$USER'), password: some('pass', 'a'.repeat(40)) }),
      { maxLength: 2 },
    ),
    jwt_secrets: fc.array(
      fc.record({ key: some('iss1', 'iss2'), algorithm: some('HS256', 'RS256'), secret: odd, rsa_public_key: odd }),
      { maxLength: 1 },
    ),
    acls: fc.array(fc.record({ group: some('staff', 'guests') }), { maxLength: 2 }),
    plugins: ownPlugins,
  },
  { requiredKeys: ['username'] },
)
const files = fc.record(
  {
    _format_version: some('1.1', '2.1', '3.0'),
    _transform: fc.constant(true),
    services: fc.array(service, { minLength: 1, maxLength: 3 }),
    routes: fc.array(fc.record({ service: some('s0', 'none'), paths: texts('/top') }), { maxLength: 1 }),
    consumers: fc.array(consumer, { maxLength: 3 }),
    plugins,
    upstreams: some(
      [],
      [{ name: 'up', hash_on: 'cookie', targets: [{ target: '10.0.0.2:90', weight: 0 }, { target: 'b.test' }] }],
      [{ name: 'up', algorithm: 'x', healthchecks: { active: { type: 'http' } }, host_header: 'h.test' }],
    ),
    vaults: odd,
    unknown_section: odd,
  },
  { requiredKeys: ['_format_version', 'services'] },
)

/** Returns the paths of all leaves of a value: its scalars, empty mappings and empty lists. */
function leavesOf(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [path]
  const members = Array.isArray(value)
    ? value.map((item, index) => [`${path}[${index}]`, item] as const)
    : Object.entries(value).map(([key, item]) => [path === '' ? key : `${path}.${key}`, item] as const)
  return members.length === 0 ? [path] : members.flatMap(([below, item]) => leavesOf(item, below))
}

test('every field of any file is in the report, and the imported config has no problems and no secrets of headers', () => {
  fc.assert(
    fc.property(files, (file) => {
      const text = stringify(file, { aliasDuplicateObjects: false })
      const result = importKong([{ name: 'kong.yaml', text }])
      if (!result.ok) return assert.match(result.problem.message, /found no route/)
      const entries = result.value.report.map((entry) => entry.name)
      const isListed = (leaf: string): boolean =>
        entries.some((entry) => leaf === entry || leaf.startsWith(`${entry}.`) || leaf.startsWith(`${entry}[`))
      assert.deepEqual(
        leavesOf(file, '').filter((leaf) => !isListed(leaf)),
        [],
      )
      const { config, tests, report } = printImport(result.value, ['kong.yaml'], 'kong')
      assert.ok(!`${config}${tests}${report}`.includes('s3cret'))
      assert.ok(!`${tests}${report}`.includes('a-secret-key'))
      const loaded = loadConfig(config, { file: 'gateway.yaml', dir: '.', env: result.value.behavior.env })
      const problems = loaded.ok
        ? []
        : loaded.problems.map(printProblem).filter((problem) => !/certificates\//.test(problem))
      assert.deepEqual(problems, [], `${text}\n${config}`)
    }),
    { numRuns: process.env.PROPERTIES === 'full' ? 2_000 : 60 },
  )
})

test('any text is imported, or refused with a location', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ maxLength: 200 }),
        fc.jsonValue().map((value) => stringify(value) ?? ''),
      ),
      (text) => {
        const result = importKong([{ name: 'kong.yaml', text }])
        if (result.ok) return assert.ok(result.value.report.length > 0)
        assert.ok(result.problem.at.line >= 1 && result.problem.at.file === 'kong.yaml')
      },
    ),
    { numRuns: 150 },
  )
})
