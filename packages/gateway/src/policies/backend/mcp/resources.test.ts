import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ResourceTemplate, type McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { begin, post } from '../../../testing/mcp/mcp-post.ts'
import { mcpConfig } from '../../../testing/mcp/mcp-scene.ts'
import { useMcpServer } from '../../../testing/mcp/mcp-server.ts'
import { useTarget } from '../../../testing/mcp/mcp-target.ts'
import { seeded } from '../../../testing/seeded.ts'
import { useGateway } from '../../../testing/scene.ts'
import type { JsonObject } from '@portico/http/json'

const SECRET = 'demo://resource/static/secret.md'
const PUBLIC = 'demo://resource/public/one.md'
const ODD = 'demo://resource/My Docs/é.md'

function addResources(server: McpServer): void {
  for (const uri of [SECRET, PUBLIC]) {
    server.registerResource(uri, uri, {}, (read) => ({ contents: [{ uri: read.href, text: `text of ${uri}` }] }))
  }
  const template = new ResourceTemplate('demo://resource/{folder}/made/{id}', { list: undefined })
  server.registerResource('made', template, {}, (read) => ({
    contents: [{ uri: read.href, text: `text of ${read.href}` }],
  }))
}

const rules = (...list: unknown[]) => ({ backend: { mcp: { authorization: { rules: list } } } })

async function useScene(t: TestContext, list: unknown[], more: Record<string, { port: number }> = {}) {
  const server = await useMcpServer(t, { setUp: addResources })
  const gateway = await useGateway(t, mcpConfig({ docs: server, ...more }, { policies: rules(...list) }))
  const session = await begin(gateway)
  return { gateway, server, ask: (method: string, params: JsonObject) => post(gateway, session, method, params) }
}

const respellings = (uri: string): string[] => [
  uri.replace('demo', 'DEMO'),
  uri.replace('demo', 'Demo'),
  ` ${uri}`,
  `${uri} `,
  `\u0000${uri}`,
  uri.replace('//resource/', '//resource/./'),
  uri.replace('//resource/', '//resource/x/../'),
  uri.replace('//resource/', '//resource/x/%2e%2e/'),
  uri.replace('//resource/', '//resource/x/.%2E/'),
  uri.replace('//resource/', '//resource//'),
  uri.replace('resource', 'RESOURCE'),
  uri.replace('resource', 'user@resource'),
  uri.replace('resource', 'resource.'),
  uri.replace('resource', 'resource:'),
  uri.replace('resource/', 'resource\\'),
  uri.replace('static', 'sta\ntic'),
  uri.replace('static', 'sta\ttic'),
  uri.replace('demo', 'de\rmo'),
  uri.replace('static', '%73tatic'),
  uri.replace('.md', '%2Emd'),
  uri.replace('static/', 'static%2F'),
  uri.replace('static/', 'static%252F'),
  `${uri}#`,
  `${uri}#part`,
  `${uri}?`,
]

test('no other spelling of a denied resource is read, subscribed to or completed', async (t) => {
  const { server, ask } = await useScene(t, [{ deny: `mcp.resource.name == "${SECRET}"` }])
  for (const uri of [SECRET, ...respellings(SECRET)]) {
    for (const method of ['resources/read', 'resources/subscribe', 'resources/unsubscribe']) {
      const { result, error } = await ask(method, { uri })
      assert.deepEqual([result, error], [undefined, { code: -32602, message: `Unknown resource: ${uri}` }], method)
    }
    const ref = { type: 'ref/resource', uri }
    const { error } = await ask('completion/complete', { ref, argument: { name: 'id', value: '' } })
    assert.deepEqual(error, { code: -32602, message: `Unknown resource: ${uri}` })
  }
  assert.ok(!server.requests.some(({ body }) => body.includes('"resources/read"')))
  const { result } = await ask('resources/read', { uri: PUBLIC })
  assert.match(JSON.stringify(result), /text of demo:\/\/resource\/public/)
})

test('an allow rule by prefix is passed by no way out of it', async (t) => {
  const { ask } = await useScene(t, ['mcp.resource.name.startsWith("demo://resource/public/")'])
  for (const way of ['..', '%2e%2e', '.%2E', '%2E.', 'x/../..', '..%2F..', './..', '..%5C..', '%252e%252e']) {
    const uri = `demo://resource/public/${way}/static/secret.md`
    const { result, error } = await ask('resources/read', { uri })
    assert.deepEqual([result, error], [undefined, { code: -32602, message: `Unknown resource: ${uri}` }])
  }
  for (const uri of [PUBLIC, 'demo://resource/public/made/7', 'demo://resource/public/made/a%20b']) {
    const { result } = await ask('resources/read', { uri })
    assert.match(JSON.stringify(result), /text of/, uri)
  }
})

test('a spelling that the server itself lists is its name for the resource', async (t) => {
  const odd = await useTarget(t, (request) => {
    if (request.method === 'resources/list') request.result({ resources: [{ uri: ODD }, { uri: 'memo://Insights' }] })
    else if (request.method === 'resources/templates/list') request.result({ resourceTemplates: [] })
    else if (request.method === 'resources/read')
      request.result({ contents: [{ uri: request.params['uri'], text: 'odd' }] })
    else return false
    return true
  })
  const { ask } = await useScene(t, [{ deny: 'mcp.resource.name.startsWith("demo://resource/My%20Docs/private")' }], {
    odd,
  })
  for (const uri of [ODD, 'memo://Insights']) {
    assert.match(JSON.stringify((await ask('resources/read', { uri: `odd+${uri}` })).result), /odd/)
  }
  const { error } = await ask('resources/read', { uri: `odd+${ODD} ` })
  assert.deepEqual(error, { code: -32602, message: `Unknown resource: odd+${ODD} ` })
})

test('a listed resource is hidden when a deny rule holds for its canonical form', async (t) => {
  const odd = await useTarget(t, (request) => {
    if (request.method !== 'resources/list') return false
    request.result({ resources: [{ uri: 'DEMO://x/secret' }, { uri: 'demo://x/open' }] })
    return true
  })
  const { ask } = await useScene(t, [{ deny: 'mcp.resource.name == "demo://x/secret"' }], { odd })
  const { result } = await ask('resources/list', {})
  const uris = (result as { resources: { uri: string }[] }).resources.map(({ uri }) => uri)
  assert.ok(uris.includes('odd+demo://x/open'))
  assert.ok(!uris.some((uri) => uri.includes('secret') && uri.startsWith('odd+')))
})

test('a name with characters that servers drop is refused where the server cannot list', async (t) => {
  const bare = await useTarget(t, (request) => {
    if (request.method !== 'tools/call') return false
    request.result({ content: [{ type: 'text', text: `called ${String(request.params['name'])}` }] })
    return true
  })
  const { ask } = await useScene(t, [{ deny: 'mcp.tool.name == "push"' }], { bare })
  for (const name of ['push', ' push', 'push\n', 'pu\u200bsh', 'ｐush', 'push\u0000', 'pu\u00adsh']) {
    const { error } = await ask('tools/call', { name: `bare_${name}` })
    assert.deepEqual(error, { code: -32602, message: `Unknown tool: bare_${name}` })
  }
  assert.match(JSON.stringify((await ask('tools/call', { name: 'bare_pull' })).result), /called pull/)
})

test('random rules and spellings: what the server reads is never what a rule denies', async (t) => {
  const random = seeded(5)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const SEGMENTS = ['a', 'b', 'static', 'secret.md', 'public', '..', '.', '%2e%2e', '%73ecret.md', '', 'a%2Fb', 'A']
  for (let round = 0; round < 6; round += 1) {
    const denied = `demo://resource/${pick(['static', 'public', 'a'])}/${pick(['secret.md', 'a', 'b', 'public'])}`
    const rule = random() < 0.5 ? `mcp.resource.name == "${denied}"` : `mcp.resource.name.startsWith("${denied}")`
    const read: string[] = []
    const server = await useMcpServer(t, {
      setUp(own) {
        const take = (url: URL) => {
          read.push(url.href)
          return { contents: [{ uri: url.href, text: 'read' }] }
        }
        own.registerResource('all', new ResourceTemplate('demo://resource/{+rest}', { list: undefined }), {}, take)
      },
    })
    const gateway = await useGateway(t, mcpConfig({ docs: server }, { policies: rules({ deny: rule }) }))
    const session = await begin(gateway)
    for (let call = 0; call < 40; call += 1) {
      const path = Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(SEGMENTS)).join(
        pick(['/', '/', '\\', '/\n']),
      )
      const uri = pick(['demo://resource/', 'DEMO://resource/', ' demo://resource/', 'demo://x@resource/']) + path
      await post(gateway, session, 'resources/read', { uri })
    }
    const isDenied = (uri: string) => (rule.includes('==') ? uri === denied : uri.startsWith(denied))
    for (const uri of read) assert.ok(!isDenied(new URL(uri).href), `${rule}: ${uri}`)
  }
})
