import assert from 'node:assert/strict'
import { it } from 'node:test'
import { loadConfig } from '../../../sources/file.ts'
import { printProblems } from '../../../sources/print-problems.ts'

const DOCUMENT = `
openapi: 3.0.0
paths:
  /a: { get: { operationId: getA } }
`

function load(
  schema: object,
  { backends = [], ...more }: Record<string, unknown> = {},
  files: Record<string, string> = {},
) {
  const openapi = { host: '127.0.0.1', port: 80, schema, ...more }
  const mcp = { targets: [{ name: 'api', openapi }] }
  const config = { backends, binds: [{ port: 0, listeners: [{ routes: [{ backends: [{ mcp }] }] }] }] }
  return loadConfig(JSON.stringify(config, null, 1), {
    file: 'test.yaml',
    dir: '/etc',
    env: {},
    readFile(path) {
      const text = files[path]
      if (text === undefined) throw new Error('ENOENT')
      return text
    },
  })
}

function operationsOf(loaded: ReturnType<typeof load>): string[] {
  assert.ok(loaded.ok, loaded.ok ? '' : printProblems(loaded.problems))
  const target = loaded.ir.backends.map((backend) => backend.target).find(({ kind }) => kind === 'mcp')
  assert.ok(target?.kind === 'mcp')
  const { reached } = target.targets[0]!
  assert.ok(reached.by === 'openapi')
  // Workers get a structured clone of the config.
  return structuredClone(reached).tools.operations.map(({ tool }) => tool.name)
}

function problemsOf(loaded: ReturnType<typeof load>): string {
  assert.ok(!loaded.ok, 'the config was accepted')
  return printProblems(loaded.problems)
}

it('a document stands in a file, or in the config as a mapping or as text', () => {
  const json = JSON.stringify({ openapi: '3.0.0', paths: { '/a': { get: { operationId: 'getA' } } } })
  const fromFile = load({ file: 'api.yaml' }, {}, { '/etc/api.yaml': DOCUMENT })
  assert.deepEqual(operationsOf(fromFile), ['getA'])
  assert.ok(fromFile.ok && fromFile.files.includes('/etc/api.yaml'))
  assert.deepEqual(operationsOf(load({ file: '/b.json' }, {}, { '/b.json': json })), ['getA'])
  for (const inline of [JSON.parse(json) as object, json, DOCUMENT])
    assert.deepEqual(operationsOf(load({ inline })), ['getA'])
})

it('reports a problem of a document with its location and operation', () => {
  const broken = DOCUMENT.replace('operationId: getA', 'operationId: getA, parameters: [{ name: c, in: body }]')
  for (const schema of [{ file: 'a' }, { inline: broken }]) {
    const problems = problemsOf(load(schema, {}, { '/etc/a': broken }))
    assert.match(problems, /test\.yaml:\d+:\d+/)
    assert.match(problems, /operation `getA`: the parameter `c` in "body", which cannot be sent/)
  }
  assert.match(problemsOf(load({ file: 'a' })), /found no readable file \/etc\/a/)
  assert.match(problemsOf(load({ file: 'a' }, {}, { '/etc/a': 'a: [' })), /broken YAML or JSON/)
  assert.match(problemsOf(load({ inline: '&a [*a]' })), /OpenAPI document/)
  assert.match(problemsOf(load({ inline: { openapi: '2.0' } })), /the version "2.0"/)
  assert.match(problemsOf(load({ inline: 1 })), /OpenAPI document/)
  assert.match(problemsOf(load({})), /`file`.*`inline`/)
  assert.match(problemsOf(load({ inline: DOCUMENT }, { backendRef: { name: 'b' } })), /`host`.*`backendRef`/)
})

it('an operation that cannot be called is left out with a warning', () => {
  const some = `${DOCUMENT}  /b: { get: { operationId: getB, parameters: [{ name: c, in: body }] } }\n`
  const loaded = load({ file: 'a' }, {}, { '/etc/a': some })
  assert.deepEqual(operationsOf(loaded), ['getA'])
  assert.ok(loaded.ok)
  assert.match(printProblems(loaded.warnings), /test\.yaml:\d+:\d+.*operation `getB`: the parameter `c`.*not offered/)
})

it('operations are chosen, and there is a limit to them', () => {
  const several = `${DOCUMENT}  /b: { get: { tags: [t] }, put: {} }\n`
  const names = (more: object) => operationsOf(load({ inline: several }, more as Record<string, unknown>))
  assert.deepEqual(names({}), ['getA', 'get_b', 'put_b'])
  assert.deepEqual(names({ include: [{ tag: 't' }, { operationId: 'get*' }] }), ['getA', 'get_b'])
  assert.deepEqual(names({ exclude: [{ path: '/b', methods: ['PUT'] }], maxTools: 2 }), ['getA', 'get_b'])
  assert.match(
    problemsOf(load({ inline: several }, { maxTools: 2 })),
    /3 operations, which is more than `maxTools` \(2\)/,
  )
  assert.match(problemsOf(load({ inline: several }, { include: [{ tags: ['t'] }] })), /`tags`/)
})

/** Paths of the large document, of 11 KB each: 27 MB in all when properties run in full. */
const PATHS = process.env['PROPERTIES'] === 'full' ? 2_500 : 250

it(`a large document with ${2 * PATHS} operations loads`, () => {
  const description = 'x'.repeat(5_500)
  const parameters = [{ $ref: '#/components/parameters/page' }]
  const bodyOf = (index: number) => ({
    content: { 'application/json': { schema: { title: `T${index}`, $ref: `#/components/schemas/N${index % 12}` } } },
  })
  const paths = Object.fromEntries(
    Array.from({ length: PATHS }, (_, index) => [
      `/things/${index}/{id}`,
      { get: { description, parameters }, post: { description, requestBody: bodyOf(index) } },
    ]),
  )
  // Each holds the others: written out they would have no end.
  const names = Array.from({ length: 12 }, (_, index) => `N${index}`)
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/schemas/${name}` }]))
  const schemas = Object.fromEntries(names.map((name) => [name, { type: 'object', properties }]))
  const page = { name: 'page', in: 'query', schema: { type: 'integer' } }
  const text = JSON.stringify({ openapi: '3.1.0', paths, components: { schemas, parameters: { page } } })
  assert.ok(text.length > PATHS * 2 * 5_500 && text.length < 32 * 2 ** 20, `${text.length} characters`)
  const loaded = load({ file: 'a' }, {}, { '/etc/a': text })
  assert.equal(operationsOf(loaded).length, 2 * PATHS)
  assert.ok(loaded.ok && JSON.stringify(loaded.ir).length < 150 * 2 ** 20)
  assert.match(problemsOf(load({ file: 'a' }, {}, { '/etc/a': `${' '.repeat(8 * 2 ** 20)}- a` })), /YAML of more than/)
})

it('the host may be that of a backend', () => {
  const named = (backend: object) =>
    load({ inline: DOCUMENT }, { host: undefined, backendRef: { name: 'b' }, backends: [{ name: 'b', ...backend }] })
  assert.deepEqual(operationsOf(named({ static: { host: 'api.internal', port: 1 } })), ['getA'])
  assert.match(problemsOf(named({ static: { unixPath: '/run/a' } })), /found a backend without a host/)
})
