import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { loadConfig } from '../../sources/file.ts'
import { printProblems } from '../../sources/print-problems.ts'
import type { McpAnswer, McpCaller } from '../../testing/mcp/mcp-caller.ts'
import { McpCaller as Caller } from '../../testing/mcp/mcp-caller.ts'
import { type ScriptedTarget, type TargetRequest, useTarget } from '../../testing/mcp/mcp-target.ts'
import { httpConfig, pathPrefix, useGateway } from '../../testing/scene.ts'

const NAMES = ['search', 'search_code', 'get_file', 'delete_repo', 'find']

/** A target that offers these tools in pages of two, in every revision, and reports which tool was called. */
function toolbox(names: readonly string[] = NAMES) {
  return ({ method, params, ...request }: TargetRequest): boolean => {
    if (method === 'tools/call')
      return (request.result({ content: [], resultType: 'complete', called: params['name'] }), true)
    if (method === 'server/discover') {
      const capabilities = { tools: {} }
      return (request.result({ supportedVersions: ['2026-07-28'], capabilities, resultType: 'complete' }), true)
    }
    if (method !== 'tools/list') return false
    const at = Number(params['cursor'] ?? 0)
    const tools = names.slice(at, at + 2).map((name) => ({
      name,
      description: `of ${name}`,
      inputSchema: { type: 'object' },
      annotations: { big: 1e21 },
    }))
    const next = at + 2 < names.length ? { nextCursor: String(at + 2) } : {}
    return (request.result({ tools, resultType: 'complete', ttlMs: 5, cacheScope: 'public', ...next }), true)
  }
}

interface Scene {
  tools?: Record<string, object>
  backend?: object
  policies?: object
}

async function setUp(
  t: TestContext,
  targets: Record<string, ScriptedTarget>,
  { tools = {}, backend, policies }: Scene,
) {
  const list = Object.entries(targets).map(([name, { port }]) => ({
    name,
    static: { host: '127.0.0.1', port },
    ...(tools[name] && { tools: tools[name] }),
  }))
  const route = { ...pathPrefix('/mcp'), backends: [{ mcp: { targets: list, ...backend } }] }
  const gateway = await useGateway(t, httpConfig([{ ...route, ...(policies && { policies }) }]))
  const caller = new Caller(gateway.port())
  return { gateway, caller, session: await caller.begin() }
}

type Tool = { name: string; description: string }

async function allTools(ask: (params: Record<string, unknown>) => Promise<McpAnswer>): Promise<Tool[]> {
  const all: Tool[] = []
  for (let params = {}; ;) {
    const result = (await ask(params)).messages.at(-1)?.result as { tools: Tool[]; nextCursor?: string }
    all.push(...result.tools)
    if (result.nextCursor === undefined) return all
    params = { cursor: result.nextCursor }
  }
}

const toolsOf = (session: McpCaller): Promise<Tool[]> => allTools((params) => session.ask('tools/list', params))
const namesOf = async (session: McpCaller): Promise<string[]> => (await toolsOf(session)).map(({ name }) => name)
const called = (answer: McpAnswer): unknown => {
  const { result, error } = answer.messages.at(-1) as { result?: { called: string }; error?: { message: string } }
  return result?.called ?? error?.message
}

const DIET = {
  include: ['search*', 'get_file', 'find'],
  exclude: ['*_code'],
  rename: { search: 'find_things' },
  description: { get_file: 'Reads a file.' },
}

describe('tools of a target', () => {
  it('are offered as the config says, in every revision', async (t) => {
    const target = await useTarget(t, toolbox())
    const { session, caller } = await setUp(t, { git: target }, { tools: { git: DIET } })
    const expected = [
      ['find_things', 'of search'],
      ['get_file', 'Reads a file.'],
      ['find', 'of find'],
    ]
    const older = await toolsOf(session)
    assert.deepEqual(
      older.map(({ name, description }) => [name, description]),
      expected,
    )
    const modern = await allTools((params) => caller.askModern('tools/list', params))
    assert.deepEqual(
      modern.map(({ name, description }) => [name, description]),
      expected,
    )
    for (const ask of [session.ask.bind(session), caller.askModern.bind(caller)]) {
      assert.equal(called(await ask('tools/call', { name: 'find_things' })), 'search')
      assert.equal(called(await ask('tools/call', { name: 'get_file' })), 'get_file')
    }
    const last = target.asked('tools/call').at(-2)
    assert.equal(last?.headers['mcp-name'], 'search', 'headers follow the body')
  })

  it('that are not offered cannot be called, and look like tools that are not there', async (t) => {
    const target = await useTarget(t, toolbox())
    const { session, caller, gateway } = await setUp(t, { git: target }, { tools: { git: DIET } })
    for (const name of ['delete_repo', 'search_code', 'search', 'nothing_of_the_kind']) {
      assert.equal(called(await session.ask('tools/call', { name })), `Unknown tool: ${name}`)
      assert.equal(called(await caller.askModern('tools/call', { name })), `Unknown tool: ${name}`)
    }
    assert.equal(target.asked('tools/call').length, 0)
    assert.deepEqual(gateway.bugs, [])
  })

  for (const prefixMode of ['Conditional', 'Never'] as const) {
    it(`several targets, with prefixMode ${prefixMode}`, async (t) => {
      const [git, box] = [await useTarget(t, toolbox()), await useTarget(t, toolbox(['find', 'search']))]
      const tools = {
        git: { include: ['search', 'get_file'], rename: { search: 'find' } },
        box: { rename: { find: 'look_up' } },
      }
      const { session } = await setUp(t, { git, box }, { tools, backend: { prefixMode } })
      const expected = ['find', 'get_file', 'look_up', 'search']
      const prefixes = prefixMode === 'Never' ? ['', '', '', ''] : ['git_', 'git_', 'box_', 'box_']
      const shown = expected.map((name, index) => `${prefixes[index]}${name}`)
      assert.deepEqual(await namesOf(session), shown)
      const answers = []
      for (const name of shown) answers.push(called(await session.ask('tools/call', { name })))
      assert.deepEqual(answers, ['search', 'get_file', 'find', 'search'])
      assert.deepEqual([git.asked('tools/call').length, box.asked('tools/call').length], [2, 2])
      const gone = prefixMode === 'Never' ? 'delete_repo' : 'git_delete_repo'
      assert.equal(called(await session.ask('tools/call', { name: gone })), `Unknown tool: ${gone}`)
    })
  }

  it('have long names cut after they are renamed, and are still found', async (t) => {
    const target = await useTarget(t, toolbox(['search']))
    const long = 'x'.repeat(64)
    const tools = { [`git-${'y'.repeat(30)}`]: { rename: { search: long } } }
    const { session } = await setUp(
      t,
      { [Object.keys(tools)[0]!]: target },
      { tools, backend: { prefixMode: 'Always' } },
    )
    const [name = ''] = await namesOf(session)
    assert.ok(name.length <= 64)
    assert.equal(called(await session.ask('tools/call', { name })), 'search')
  })

  it('are judged, logged and counted by their own names', async (t) => {
    const target = await useTarget(t, toolbox())
    const rules = [{ deny: 'mcp.tool.name == "search"' }]
    const { session, gateway } = await setUp(
      t,
      { git: target },
      {
        tools: { git: { ...DIET, rename: { search: 'harmless', get_file: 'read' } } },
        policies: { backend: { mcp: { authorization: { rules } } } },
      },
    )
    assert.deepEqual(await namesOf(session), ['read', 'find'], 'a new name gets no tool past a rule')
    assert.equal(called(await session.ask('tools/call', { name: 'harmless' })), 'Unknown tool: harmless')
    assert.equal(called(await session.ask('tools/call', { name: 'read' })), 'get_file')
    await gateway.finished(6)
    assert.match(gateway.lines.join('\n'), /gen_ai\.tool\.name=get_file/)
    assert.match(gateway.metrics(), /portico_mcp_requests_total\{[^}]*get_file/)
  })

  it('that are hidden are in the trace, with what hid them', async (t) => {
    const target = await useTarget(t, toolbox(['search', 'find']))
    const { session, gateway } = await setUp(t, { git: target }, { tools: { git: { exclude: ['find'] } } })
    const traced = gateway.trace()
    await session.ask('tools/list')
    const filtered = (await traced).find(({ message }) => message.type === 'mcpFiltered')?.message
    assert.deepEqual(filtered?.['items'], [{ kind: 'tool', name: 'find', target: 'git', by: 'tools' }])
  })

  it('that a renamed one displaces are not offered', async (t) => {
    const target = await useTarget(t, toolbox())
    const { session } = await setUp(t, { git: target }, { tools: { git: { rename: { search: 'find' } } } })
    assert.deepEqual(await namesOf(session), ['find', 'search_code', 'get_file', 'delete_repo'])
    assert.equal(called(await session.ask('tools/call', { name: 'find' })), 'search')
  })

  it('change with a reload, for sessions that go on', async (t) => {
    const target = await useTarget(t, toolbox())
    const { session, gateway } = await setUp(t, { git: target }, { tools: { git: { include: ['find'] } } })
    assert.deepEqual(await namesOf(session), ['find'])
    const git = { name: 'git', static: { host: '127.0.0.1', port: target.port }, tools: { exclude: ['find'] } }
    await gateway.reload(
      JSON.stringify(httpConfig([{ ...pathPrefix('/mcp'), backends: [{ mcp: { targets: [git] } }] }])),
    )
    assert.deepEqual(await namesOf(session), ['search', 'search_code', 'get_file', 'delete_repo'])
  })

  it('OpenAPI targets offer their tools the same way', async (t) => {
    const document = { openapi: '3.1.0', paths: { '/a': { get: {}, put: {} } } }
    const api = { name: 'api', openapi: { host: '127.0.0.1', port: 1, schema: { inline: document } } }
    const targets = [
      { ...api, tools: { include: ['get*'], rename: { get_a: 'read' }, description: { get_a: 'Reads.' } } },
    ]
    const gateway = await useGateway(t, httpConfig([{ ...pathPrefix('/mcp'), backends: [{ mcp: { targets } }] }]))
    const session = await new Caller(gateway.port()).begin()
    assert.deepEqual(
      (await toolsOf(session)).map(({ name, description }) => [name, description]),
      [['read', 'Reads.']],
    )
    assert.equal(called(await session.ask('tools/call', { name: 'put_a' })), 'Unknown tool: put_a')
  })
})

describe('a config', () => {
  const load = (targets: object[], backend: object = {}) => {
    const mcp = { targets, ...backend }
    const text = JSON.stringify(httpConfig([{ backends: [{ mcp }] }]), null, 1)
    return loadConfig(text, { file: 'test.yaml', dir: '/', env: {} })
  }
  const remote = (name: string, tools: object) => ({ name, static: { host: 'a', port: 1 }, tools })
  const document = { openapi: '3.1.0', paths: { '/a': { get: {}, put: {} } } }
  const api = (tools: object) => ({
    name: 'api',
    openapi: { host: 'a', port: 1, schema: { inline: document } },
    tools,
  })
  const problemsOf = (...args: Parameters<typeof load>): string => {
    const loaded = load(...args)
    assert.ok(!loaded.ok, 'the config was accepted')
    return printProblems(loaded.problems)
  }
  const warningsOf = (...args: Parameters<typeof load>): string[] => {
    const loaded = load(...args)
    assert.ok(loaded.ok, loaded.ok ? '' : printProblems(loaded.problems))
    return loaded.warnings.map(({ found }) => found)
  }

  it('that gives one name to two tools is refused', () => {
    const twice = /test\.yaml:\d+:\d+: .*rename.*found the name `x`, which `a` of `one` has/s
    assert.match(problemsOf([remote('one', { rename: { a: 'x', b: 'x' } })]), twice)
    const two = [remote('one', { rename: { a: 'x' } }), remote('two', { rename: { b: 'x' } })]
    assert.match(problemsOf(two, { prefixMode: 'Never' }), twice)
    assert.deepEqual(warningsOf(two), [])
    assert.match(problemsOf([api({ rename: { get_a: 'put_a' } })]), /found the name `put_a`, which `put_a` has/)
    assert.deepEqual(warningsOf([api({ rename: { get_a: 'put_a', put_a: 'get_a' } })]), [])
  })

  it('that names what is not offered gets a warning', () => {
    assert.deepEqual(warningsOf([remote('one', { exclude: ['a*'], rename: { ab: 'x' }, description: { ac: 'y' } })]), [
      'found `ab`, which is not an offered tool',
      'found `ac`, which is not an offered tool',
    ])
    assert.deepEqual(warningsOf([api({ include: ['get*', 'nothing*'], description: { post_a: 'y' } })]), [
      'found `post_a`, which is not an offered tool',
      'found `nothing*`, which is not an offered tool',
    ])
  })

  it('has names that every client accepts', () => {
    assert.match(problemsOf([remote('one', { rename: { a: 'x y' } })]), /letters, digits/)
    assert.match(problemsOf([remote('one', { rename: { a: 'x'.repeat(65) } })]), /64/)
    assert.match(problemsOf([remote('one', { include: [] })]), /include/)
  })
})
