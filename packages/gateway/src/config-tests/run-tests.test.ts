import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { printProblem } from '../sources/print-problems.ts'
import { createAuthority } from '../testing/certificates.ts'
import { loadTests } from './load-tests.ts'
import { type RunResult, runTests } from './run-tests.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

async function run(file: string, filter: string | null = null): Promise<Extract<RunResult, { ok: true }>> {
  const loaded = loadTests(file)
  assert.ok(loaded.ok, loaded.ok ? '' : loaded.problems.map(printProblem).join('\n'))
  const result = await runTests(loaded.value, { filter })
  assert.ok(result.ok, result.ok ? '' : result.problems.join('\n'))
  return result
}

function useFiles(t: TestContext, files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-tests-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

const examples = globSync('examples/*.test.yaml', { cwd: root }).toSorted()

test('all examples have tests, unless they have no listener for HTTP', () => {
  const configs = globSync('examples/*.yaml', { cwd: root, exclude: ['**/*.test.yaml'] })
  const withoutTests = configs.filter((file) => !examples.includes(file.replace('.yaml', '.test.yaml')))
  assert.deepEqual(withoutTests.toSorted(), ['examples/dns.yaml', 'examples/passthrough.yaml'])
})

for (const file of examples) {
  test(`the tests of the example ${basename(file)} pass`, async () => {
    const { results } = await run(join(root, file))
    assert.ok(results.length > 0)
    assert.deepEqual(
      results.filter(({ failures }) => failures.length > 0),
      [],
    )
  })
}

test('programs of MCP targets answer from the world, and only under their names', async (t) => {
  const folder = useFiles(t, {
    'a.yaml':
      'binds: [{ port: 8080, listeners: [{ routes: [{ name: tools, backends: [{ mcp: { targets: [{ name: files, stdio: { cmd: never-started } }] } }] }] }] }]',
    'a.test.yaml': `config: a.yaml
tests:
- name: listed
  upstreams: { "stdio:files": { mcp: { tools: [{ name: read }] } } }
  send: { mcp: tools/list }
  expect: { tools: [read], upstream: { address: "stdio:files", body: { method: tools/list } } }
- name: broken
  upstreams: { "stdio:files": { body: no message } }
  send: { mcp: tools/list }
  expect: { status: 200, body: "~ files.*not JSON" }
- name: ended
  upstreams: { "stdio:files": { fault: reset } }
  send: { mcp: tools/list }
  expect: { body: "~ error" }
- name: away
  upstreams: { "stdio:files": { fault: refused } }
  send: { mcp: tools/list }
  expect: { body: "~ error", upstream: null }
- name: unknown
  upstreams: { "*": { mcp: { tools: [{ name: read }] } } }
  send: { mcp: tools/list }
  expect: { tools: [read] }
`,
  })
  const { results } = await run(join(folder, 'a.test.yaml'))
  const [unknown] = results.at(-1)?.failures ?? []
  assert.match(unknown?.unknown ?? '', /needs files \(never-started\): add `stdio:`/)
  assert.deepEqual(
    results.slice(0, -1).flatMap(({ failures }) => failures),
    [],
  )
})

test('certificates and keys without a file have stand-ins, and a warning says so', async (t) => {
  const { cert, key } = createAuthority().issue({ names: ['a.test'] })
  const tls = (cert: string, key: string) => `{ cert: ${cert}, key: ${key} }`
  const listener = (port: number, pair: string): string =>
    `{ port: ${port}, listeners: [{ protocol: HTTPS, tls: ${pair}, routes: [{ backends: [{ host: "127.0.0.1:9000" }] }] }] }`
  const folder = useFiles(t, {
    'known.crt': cert,
    'known.key': key,
    'a.yaml': `binds: [${[listener(8443, tls('known.crt', 'away.key')), listener(8444, tls('away.crt', 'known.key')), listener(8445, tls('away.crt', 'away.key')), listener(8446, tls('known.crt', 'known.key'))].join(', ')}]`,
    'a.test.yaml': `config: a.yaml
world: { upstreams: { "*": { body: ok } } }
tests:
${[8443, 8444, 8445, 8446].map((port) => `- { name: port ${port}, send: { path: /, port: ${port} }, expect: { status: 200 } }\n`).join('')}`,
  })
  const { results, warnings } = await run(join(folder, 'a.test.yaml'))
  assert.deepEqual([results.length, results.flatMap(({ failures }) => failures)], [4, []])
  assert.deepEqual(warnings, [
    `${join(folder, 'a.yaml')}: stand-ins replace certificates and keys without a file: away.key, away.crt`,
  ])
})

test('certificates that are broken, and secrets without a file, are problems in a test too', async (t) => {
  const folder = useFiles(t, {
    'broken.crt': 'no certificate',
    'a.yaml':
      'binds: [{ port: 8443, listeners: [{ protocol: HTTPS, tls: { cert: broken.crt, key: away.key }, routes: [{ policies: { basicAuthentication: { secretRef: { file: away.htpasswd } } }, backends: [{ host: "127.0.0.1:9000" }] }] }] }]',
    'a.test.yaml': 'config: a.yaml\ntests: [{ name: a, send: GET /, expect: { status: 200 } }]',
  })
  const loaded = loadTests(join(folder, 'a.test.yaml'))
  assert.ok(loaded.ok)
  const result = await runTests(loaded.value, { filter: null })
  const problems = result.ok ? '' : result.problems.join('\n')
  assert.match(problems, /no certificate in the file/)
  assert.match(problems, /no readable file \S+away\.htpasswd/)
  assert.ok(!problems.includes('away.key'))
})

test('the test files on the page of the docs pass against its config', async (t) => {
  const page = readFileSync(join(root, 'docs/testing-configs.md'), 'utf8')
  const fences = [...page.matchAll(/```yaml\n([^]*?)```/g)].map(([, text = '']) => text)
  const config = fences.find((text) => text.startsWith('# gateway.yaml')) ?? assert.fail('the page has no config')
  const files = fences.filter((text) => /^config: gateway\.yaml$/m.test(text))
  assert.equal(files.length, fences.length - 1)
  const names = files.map((_text, index) => `page-${index}.test.yaml`)
  const folder = useFiles(t, {
    'gateway.yaml': config,
    ...Object.fromEntries(files.map((text, index) => [names[index], text])),
  })
  for (const name of names) {
    const { results } = await run(join(folder, name))
    assert.deepEqual(
      results.filter(({ failures }) => failures.length > 0),
      [],
      name,
    )
  }
})

const CONFIG = `
binds:
- port: 8080
  listeners:
  - routes:
    - name: open
      matches: [{ path: { exact: /open } }, { path: { exact: /also } }]
      policies:
        rateLimit:
          conditional:
          - { condition: 'request.headers["x-plan"] == "gold"', policy: { local: [{ requests: 9, unit: Minutes }] } }
          - policy: { local: [{ requests: 1, unit: Minutes }] }
      backends: [{ host: "127.0.0.1:9000" }]
    - name: closed
      matches: [{ path: { pathPrefix: /closed } }]
      policies:
        apiKeyAuthentication:
          mode: Optional
          secretRef: { data: { alice: k-alice-0123456789, hashed: { keyHash: "sha256:${'ab'.repeat(32)}" } } }
        authorization: { rules: [{ deny: 'request.method == "POST"' }, { deny: 'request.method == "PUT"' }] }
      backends: [{ host: "127.0.0.1:9001" }]
`

const fileOf = (tests: string): Record<string, string> => ({
  'gateway.yaml': CONFIG,
  'a.test.yaml': `config: gateway.yaml\nworld: { upstreams: { "127.0.0.1:9000": { body: ok } } }\ntests:\n${tests}`,
})

test('a failure has the difference, the decision with its location, and the trace', async (t) => {
  const folder = useFiles(t, fileOf('- { name: one, send: POST /closed, expect: { status: 200, by: null } }'))
  const [result] = (await run(join(folder, 'a.test.yaml'))).results
  const [failure, ...others] = result?.failures ?? []
  assert.deepEqual(others, [])
  assert.deepEqual(
    failure?.differences.map(({ field }) => field.join('.')),
    ['status', 'by'],
  )
  assert.deepEqual(failure?.location, { file: join(folder, 'a.test.yaml'), line: 4, column: 54 })
  assert.match(failure?.headline ?? '', /request\.method == "POST"/)
  assert.deepEqual(failure?.decidedAt, { file: join(folder, 'gateway.yaml'), line: 20, column: 36 })
  assert.ok(failure?.trace.some((line) => line.includes('authorization stopped the request with 403')))
})

const unknowns: [name: string, test: string, unknown: RegExp][] = [
  [
    'an upstream',
    'send: GET /closed, expect: { status: 502 }',
    /the answer of 127\.0\.0\.1:9001 is unknown: add it to `world\.upstreams`/,
  ],
  [
    'a port',
    'send: { path: /open, port: 9 }, expect: { route: open, status: null }',
    /no listener for HTTP on http port 9/,
  ],
  [
    'a password',
    'given: { basic: { username: eve } }, send: GET /closed, expect: { route: closed }',
    /the config has no user `eve`/,
  ],
  ['an invalid expression', 'send: GET /open, expect: { cel: "request.methd == 1 &&" }', /`cel` is invalid at 1:\d+/],
  ['an invalid pattern', 'send: GET /open, expect: { body: "~ (" }', /pattern/],
]

for (const [name, each, unknown] of unknowns) {
  test(`${name} that is unknown or invalid never passes`, async (t) => {
    const folder = useFiles(t, fileOf(`- { name: one, ${each} }`))
    const [result] = (await run(join(folder, 'a.test.yaml'))).results
    assert.match(result?.failures[0]?.unknown ?? 'the test has passed', unknown)
  })
}

test('the route, and the request to an upstream, are known although the answer is not', async (t) => {
  const expect = '{ route: closed, upstream: { address: "127.0.0.1:9001", path: /closed/a } }'
  const folder = useFiles(t, fileOf(`- { name: one, send: GET /closed/a, expect: ${expect} }`))
  const [result] = (await run(join(folder, 'a.test.yaml'))).results
  assert.deepEqual(result?.failures, [])
})

test('keys and passwords of which the config has only hashes are given by name', async (t) => {
  const hash = `{SHA}${createHash('sha1').update('a password').digest('base64')}`
  const config = `binds:
- port: 8080
  listeners:
  - routes:
    - matches: [{ path: { pathPrefix: /key } }]
      policies:
        apiKeyAuthentication: { secretRef: { data: { bob: { keyHash: "sha256:${'ab'.repeat(32)}" } } } }
        directResponse: { status: 200 }
    - policies:
        basicAuthentication: { users: ["ann:${hash}", "eve:${hash}"] }
        directResponse: { status: 200 }
`
  const tests = `config: hashed.yaml
tests:
- { name: key, given: { apiKey: bob }, send: GET /key, expect: { status: 200 } }
- { name: other, given: { apiKey: eve }, send: GET /key, expect: { status: 401 } }
- { name: user, given: { basic: { username: ann } }, send: GET /, expect: { status: 200 } }
- { name: password, given: { basic: { username: eve, password: a password } }, send: GET /, expect: { status: 200 } }
- { name: both, given: { basic: { username: ann, password: a password } }, send: GET /, expect: { status: 200 } }
`
  const folder = useFiles(t, { 'hashed.yaml': config, 'a.test.yaml': tests })
  const { results } = await run(join(folder, 'a.test.yaml'))
  const failed = results.flatMap(({ name, failures }) => failures.map(({ unknown }) => [name, unknown]))
  assert.deepEqual(failed, [['both', 'give the password of `ann` in all tests of the file, or in none']])
})

test('coverage counts routes, matches, rules and forms', async (t) => {
  const folder = useFiles(
    t,
    fileOf(`- { name: one, send: GET /open, expect: { status: 200 } }
- { name: two, send: POST /closed, expect: { rule: 1 } }`),
  )
  const { coverage } = await run(join(folder, 'a.test.yaml'))
  const missed = coverage.missed.map(({ kind, name }) => `${kind} ${name}`)
  assert.deepEqual(missed.toSorted(), [
    'form rateLimit, form 1 (request.headers["x-plan"] == "gold")',
    'match open, match 2',
    'rule deny request.method == "PUT"',
  ])
  assert.deepEqual([coverage.parts.length, coverage.reached, coverage.percent], [8, 5, 62])
  assert.deepEqual(coverage.missed[0]?.locate(), { file: join(folder, 'gateway.yaml'), line: 7, column: 45 })
  const filtered = await run(join(folder, 'a.test.yaml'), 'two')
  assert.deepEqual([filtered.results.length, filtered.coverage.reached], [1, 2])
})

test('a config with problems, or without a file, is no run', async (t) => {
  const folder = useFiles(t, { ...fileOf('- { name: one, send: GET /, expect: {} }'), 'gateway.yaml': 'bindz: []' })
  const loaded = loadTests(join(folder, 'a.test.yaml'))
  assert.ok(loaded.ok)
  const broken = await runTests(loaded.value, { filter: null })
  assert.ok(!broken.ok)
  assert.match(broken.problems.join('\n'), /gateway\.yaml:1:1: bindz[^]*did you mean `binds`\?/)
  const missing = await runTests({ ...loaded.value, config: 'none.yaml' }, { filter: null })
  assert.ok(!missing.ok)
  assert.match(missing.problems.join('\n'), /none\.yaml: the config cannot be read: ENOENT/)
})
