import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig, printProblem } from '../../../gateway/src/sources/config-file.ts'
import { printImport } from '../core/print-import.ts'
import { importTraefik } from './import-traefik.ts'
import { readRule } from './rule.ts'

test('rules are read with their precedence', () => {
  const host = (name: string) => ({ kind: 'host', host: name })
  assert.deepEqual(readRule('Host(`a.test`) || Host(`B.test`) && !(PathPrefix(`/x`))'), {
    kind: 'any',
    of: [
      { kind: 'any', of: [host('a.test')] },
      {
        kind: 'all',
        of: [
          { kind: 'any', of: [host('b.test')] },
          { kind: 'not', of: { kind: 'any', of: [{ kind: 'path', path: { kind: 'start', path: '/x' } }] } },
        ],
      },
    ],
  })
  for (const text of [
    '',
    'Host(',
    'Host(`a`',
    'Host(`a`) &&',
    'Host(`a`) Host(`b`)',
    '!'.repeat(100),
    'a'.repeat(1_000),
  ]) {
    assert.equal(readRule(text).kind, 'unknown', text)
  }
})

test('requests that the only router excludes are not sent to its service', () => {
  const text = JSON.stringify({
    http: {
      routers: { app: { entryPoints: ['web'], rule: 'Host(`a.test`) && !PathPrefix(`/admin`)', service: 'app' } },
      services: { app: { loadBalancer: { servers: [{ url: 'http://127.0.0.1:9000' }] } } },
    },
  })
  const result = importTraefik([{ name: 'a.yaml', text }])
  assert.ok(result.ok)
  assert.deepEqual(
    result.value.behavior.tests.map(({ send, expect }) => [send, expect]),
    [
      [
        { path: '/admin/example', host: 'a.test', port: 80 },
        { status: 404, upstream: null },
      ],
      [
        { path: '/example', host: 'a.test', port: 80 },
        { status: 200, upstream: { address: '127.0.0.1:9000', path: '/example' } },
      ],
    ],
  )
})

const rules = fc.constantFrom(
  ...[
    'Host(`a.test`)',
    'Host(`a.test`) && PathPrefix(`/x`)',
    'PathPrefix(`/`)',
    '!Method(`POST`)',
    'Path(`/a`, `/b`) || Header(`X-A`, `b`)',
    'HostRegexp(`^.+[.]test$`)',
  ],
  ...[
    'ClientIP(`10.0.0.0/8`)',
    'Query(`a`, `b`)',
    'PathRegexp(`^/v[0-9]`)',
    'Host(`x',
    'HostRegexp(`{a:b}.test`)',
    'Unknown(`a`)',
  ],
)
const middlewares: readonly object[] = [
  ...[
    { stripPrefix: { prefixes: ['/x', '/y/'] } },
    { addPrefix: { prefix: '/p' } },
    { replacePath: { path: '/q' } },
    { replacePathRegex: { regex: 'a', replacement: 'b' } },
  ],
  ...[
    { redirectScheme: { scheme: 'https', permanent: true } },
    { redirectRegex: { regex: 'a', replacement: 'b' } },
    { headers: { frameDeny: true, customRequestHeaders: { A: 'b', Cookie: 's3cret' } } },
  ],
  ...[
    { basicAuth: { users: ['a:b'] } },
    { basicAuth: { users: ['a:$2y$05$abc'] } },
    { forwardAuth: { address: 'http://x/y' } },
    { ipAllowList: { sourceRange: ['1.2.3.4'] } },
  ],
  ...[
    { rateLimit: { average: 5 } },
    { retry: { attempts: 9 } },
    { chain: { middlewares: ['m0', 'm1'] } },
    { plugin: {} },
    { compress: {} },
    { other: 1 },
    {},
  ],
]
const files = fc.record({
  http: fc.record({
    routers: fc.dictionary(
      fc.constantFrom('r0', 'r1', 'r2', 'r3'),
      fc.record({
        rule: rules,
        entryPoints: fc.subarray(['web', 'websecure', 'odd'], { minLength: 1 }),
        middlewares: fc.subarray(['m0', 'm1', 'm2', 'none']),
        service: fc.constantFrom('s0', 's1', 'none', 'api@internal'),
        priority: fc.constantFrom(0, 1, 50),
      }),
      { minKeys: 1 },
    ),
    middlewares: fc.record({
      m0: fc.constantFrom(...middlewares),
      m1: fc.constantFrom(...middlewares),
      m2: fc.constantFrom(...middlewares),
    }),
    services: fc.constantFrom(
      {
        s0: { loadBalancer: { servers: [{ url: 'http://a:1' }, { url: 'https://b', weight: 3 }] } },
        s1: { weighted: { services: [{ name: 's0', weight: 2 }, { name: 's1' }] } },
      },
      { s0: { loadBalancer: { servers: [{ url: 'a' }] } }, s1: { mirroring: { service: 's0' } } },
      {
        s0: { loadBalancer: { servers: [{ url: 'http://1.2.3.4:80/x' }] } },
        s1: { weighted: { services: [{ name: 's0', weight: 0 }] } },
      },
    ),
  }),
})

test('a chain that contains itself is closed, and middlewares with too many cases get 501', () => {
  const outcome = (rule: string, middlewares: object, names: string[]) => {
    const routers = { r: { rule, middlewares: names, service: 's' } }
    const services = { s: { loadBalancer: { servers: [{ url: 'http://a:1' }] } } }
    const text = JSON.stringify({ http: { routers, middlewares, services } }, null, 1)
    const result = importTraefik([{ name: 'a.yaml', text }])
    assert.ok(result.ok)
    return printImport(result.value, ['a.yaml'], 'traefik')
  }
  const strip = (index: number) => ({ stripPrefix: { prefixes: [`/a${index}`, `/b${index}/`] } })
  const own = outcome('Host(`a.test`)', { m0: strip(0), m1: { chain: { middlewares: ['m0', 'm1'] } } }, ['m1'])
  assert.match(own.report, /the chain m1 contains itself; requests get 403/)
  assert.match(own.config, /status: 403/)
  const names = Array.from({ length: 12 }, (_, index) => `m${index}`)
  const many = outcome('Host(`a.test`)', Object.fromEntries(names.map((name, index) => [name, strip(index)])), names)
  assert.match(many.report, /lead to too many routes; matching requests get 501/)
  assert.match(many.config, /status: 501/)
})

test('a header that is more than a route can change is in the report, and in no list', () => {
  const names = Array.from({ length: 17 }, (_, index) => `x-h${index}`)
  const values = Object.fromEntries(names.map((name) => [name, 'v']))
  for (const field of ['customRequestHeaders', 'customResponseHeaders']) {
    const routers = { r: { rule: 'Host(`a.test`)', middlewares: ['m'], service: 's' } }
    const services = { s: { loadBalancer: { servers: [{ url: 'http://a:1' }] } } }
    const http = { routers, services, middlewares: { m: { headers: { [field]: values } } } }
    const result = importTraefik([{ name: 'a.yaml', text: JSON.stringify({ http }, null, 1) }])
    assert.ok(result.ok)
    const { report, config } = printImport(result.value, ['a.yaml'], 'traefik')
    assert.ok(config.includes('x-h14') && !config.includes('x-h15'), config)
    assert.equal(report.match(/a route can change at most 15 headers/g)?.length, 2, report)
  }
})

test('any file is imported, or refused with a location; the config has no problems and no secrets', () => {
  fc.assert(
    fc.property(fc.oneof({ weight: 1, arbitrary: fc.jsonValue() }, { weight: 6, arbitrary: files }), (value) => {
      const text = JSON.stringify(value, null, 1)
      const result = importTraefik([{ name: 'a.yaml', text }])
      if (!result.ok) return assert.ok(result.problem.at.line >= 1 && result.problem.message !== '')
      const { config } = printImport(result.value, ['a.yaml'], 'traefik')
      assert.ok(!config.includes('s3cret') && !JSON.stringify(result.value.report).includes('s3cret'))
      const loaded = loadConfig(config, { file: 'gateway.yaml', dir: '.', env: result.value.behavior.env })
      const problems = loaded.ok
        ? []
        : loaded.problems.map(printProblem).filter((problem) => !/certificates\/|users\[/.test(problem))
      assert.deepEqual(problems, [], `${text}\n${config}`)
    }),
    { numRuns: 150 },
  )
})

test('a refusal names the first router in the way, and parts that no router uses say so', () => {
  const http = (rule: string) => `http:
  routers: { a: { rule: "${rule}", service: a, entryPoints: [web] } }
  middlewares: { spare: { stripPrefix: { prefixes: [/x] } } }
  services: { a: { loadBalancer: { servers: [{ url: "http://a.test" }] } } }
`
  const refused = importTraefik([{ name: 'a.yml', text: http('HostRegexp(`{name:[a-z]{3}}.test`)') }])
  assert.ok(!refused.ok)
  assert.equal(refused.problem.at.line, 2)
  assert.match(
    refused.problem.message,
    /^found no router that can be imported \(http\.routers\.a\.rule: .*\), expected/,
  )
  const found = importTraefik([{ name: 'a.yml', text: http('Host(`a.test`)') }])
  assert.ok(found.ok)
  const spare = found.value.report.find(({ name }) => name === 'http.middlewares.spare')
  assert.equal(spare?.note, 'no router that is imported uses it')
})
