import assert from 'node:assert/strict'
import { test } from 'node:test'
import { indexPolicies } from '../../../ir/merge.ts'
import { PoliciesByTarget } from '../../../ir/policies-by-target.ts'
import { loadConfig } from '../../../sources/file.ts'
import { printProblems } from '../../../sources/print-problems.ts'
import { httpConfig } from '../../../testing/scene.ts'

const MCP = { name: 'tools', mcp: { targets: [{ name: 'git', static: { host: '127.0.0.1', port: 9 } }] } }

function load(rules: unknown[], more: object = {}) {
  const policies = { mcp: { authorization: { rules } } }
  const config = { backends: [{ ...MCP, policies }], ...httpConfig([{ backends: [{ backend: 'tools' }] }]), ...more }
  return loadConfig(JSON.stringify(config), { file: 'gateway.yaml', dir: '.', env: {} })
}

const fine: unknown[] = [
  'mcp.tool.name == "x" && mcp.tool.target == "git"',
  'has(mcp.prompt) || has(mcp.task)',
  'mcp.resource.name.startsWith("file:///")',
  'mcp.methodName == "tools/list" && mcp.sessionId != "" && mcp.protocolVersion >= "2025-06-18"',
  'jwt.sub == "a" || apiKey.x == 1 || basicAuth.username == "b"',
  'request.headers["x-a"] == "1" && source.address == "::1" && metadata.x == 1',
  { deny: 'mcp.tool.name == "x"' },
  { deny: 'mcp.tool.name == "x" || mcp.prompt.name == "x"' },
  { require: '!has(mcp.tool) || mcp.tool.name == "x"' },
  { require: 'default(jwt.sub, "") != ""' },
]
for (const rule of fine) {
  test(`a rule that nobody needs to be warned of: ${JSON.stringify(rule)}`, () => {
    const result = load([rule])
    assert.ok(result.ok, result.ok ? '' : printProblems(result.problems))
    assert.equal(printProblems(result.warnings), '')
  })
}

const refused: [string, unknown, RegExp][] = [
  ['an unknown kind', 'mcp.tols.name == "x"', /`mcp` has no field `tols`/],
  ['an unknown field', 'mcp.tool.nam == "x"', /nam[^]*name/],
  ['arguments, which lists do not have', 'mcp.tool.arguments.path == "/"', /arguments/],
  ['a variable of a later phase', 'response.code == 200', /response/],
  ['the body, which was read already', 'size(request.body) < 10', /body/],
  ['what is known at the end', 'mcp.outcome == "ok"', /outcome/],
]
for (const [name, rule, expected] of refused) {
  test(`refused at load: ${name}`, () => {
    const result = load([rule])
    assert.ok(!result.ok, 'the config was accepted')
    assert.match(printProblems(result.problems), expected)
  })
}

const doubted: [unknown, RegExp][] = [
  [{ deny: 'mcp.tool.name == "x" && jwt.role != "admin"' }, /deny rule that may fail: `jwt\.role`/],
  [{ deny: '(mcp.tool.name == "x" || jwt.sub == "a") && true' }, /deny rule that may fail: `jwt\.sub`/],
  [
    { require: 'mcp.tool.name != "x"' },
    /require rule that denies everything but tools: `mcp\.tool\.name`[^]*!has\(mcp\.tool\)/,
  ],
]
for (const [rule, expected] of doubted) {
  test(`a warning with its place: ${JSON.stringify(rule)}`, () => {
    const result = load([rule])
    assert.ok(result.ok)
    assert.equal(result.warnings.length, 1)
    assert.match(printProblems(result.warnings), /^gateway\.yaml:1:\d+/)
    assert.match(printProblems(result.warnings), expected)
  })
}

test('rules of the gateway, the route and the backend are all in force', () => {
  const rule = (name: string) => ({ mcp: { authorization: { rules: [{ deny: `mcp.tool.name == "${name}"` }] } } })
  const at = [{ kind: 'Gateway', name: 'default' }]
  const policies = [
    { name: 'one', targetRefs: at, backend: rule('gateway') },
    { name: 'two', targetRefs: at, backend: rule('gateway too') },
  ]
  const routes = [{ backends: [{ backend: 'tools', policies: rule('entry') }] }]
  const result = load([{ deny: 'mcp.tool.name == "backend"' }], { policies, ...httpConfig(routes) })
  assert.ok(result.ok, result.ok ? '' : printProblems(result.problems))
  assert.equal(printProblems(result.warnings), '')
  const { ir } = result
  const index = indexPolicies(PoliciesByTarget.of(ir.policies), new Set())
  const route = ir.routes[0]!
  const [entry] = route.backends
  const place = {
    listener: route.listener,
    route: route.key,
    parent: `${route.listener}/${route.name}`,
    backend: entry!.backend,
    entry: entry!.key,
  }
  const found = index.mcpAuthorization(place).flatMap(({ rules }) => rules?.map(({ expression }) => expression) ?? [])
  assert.deepEqual(
    found,
    ['gateway too', 'gateway', 'backend', 'entry'].map((name) => `mcp.tool.name == "${name}"`),
  )
  // Elsewhere the nearest one replaces the others.
  assert.equal(index.backend(place).mcp?.authorization?.rules?.length, 1)
})
