import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { parse } from 'yaml'
import { fencesOf, readPage } from './docs-pages.ts'
import { startGateway, type TestGateway } from './gateway.ts'

/** What the docs show of MCP is run as it stands, with the real servers that it names. */

const limit = { timeout: 60_000 }

test('the config that begins the page about MCP serves the tools below it', limit, async (t) => {
  const page = readPage('docs/mcp.md')
  const { text } = fencesOf(page).find(({ lang }) => lang === 'yaml')!
  const shown = /^```\n(memory_[^]*?)^```$/m.exec(page)![1]!.match(/[\w-]{2,}/g)!
  assert.ok(shown.length >= 4, shown.join())
  const gateway = await useGateway(t, text)
  const client = await connect(t, gateway)
  const names = new Set((await client.listTools()).tools.map(({ name }) => name))
  for (const name of shown) assert.ok(names.has(name), `${name} is not in ${[...names].join()}`)
})

test('the page about fewer tools says what its config serves, and what that saves', limit, async (t) => {
  const page = readPage('docs/mcp-tools.md')
  const { text } = fencesOf(page).find(({ lang }) => lang === 'yaml')!
  const shown = /^```\n(memory_[^]*?)^```$/m.exec(page)![1]!.trim().split(/\s+/)
  const plain = parse(text, (key, value: unknown) => (key === 'tools' ? undefined : value)) as object
  const lists = []
  for (const yaml of [JSON.stringify(plain), text]) {
    const client = await connect(t, await useGateway(t, yaml))
    const { tools } = await client.listTools()
    lists.push({ names: tools.map(({ name }) => name), bytes: JSON.stringify(tools).length })
  }
  assert.deepEqual(lists[1]?.names, shown)
  const rows = ['as they are', 'the same with this config'].map((row) => {
    const [, tools, bytes] = new RegExp(`${row} \\| ([0-9,]+) \\| ([0-9,]+) \\|`).exec(page)!
    return [tools, bytes].map((text) => Number(text!.replaceAll(',', '')))
  })
  // Rounded to hundreds.
  assert.deepEqual(
    rows,
    lists.map(({ names, bytes }) => [names.length, Math.round(bytes / 100) * 100]),
  )
})

test('the example serves tools to who has a key, and those that change something to admins', limit, async (t) => {
  const keys = { user: 'alice-key-0123456789', admin: 'admin-key-0123456789' }
  const yaml = readPage('examples/mcp.yaml').replace(
    'alice: { env: ALICE_KEY }',
    `$&\n              admin: { env: ADMIN_KEY }`,
  )
  const admin = JSON.stringify({ key: keys.admin, metadata: { role: 'admin' } })
  const gateway = await useGateway(t, yaml, { ALICE_KEY: keys.user, ADMIN_KEY: admin })
  await assert.rejects(connect(t, gateway), /no API key found/)

  const user = await connect(t, gateway, keys.user)
  const seen = (await user.listTools()).tools.map(({ name }) => name)
  assert.ok(seen.includes('files_read_text_file') && seen.includes('memory_read_graph'), seen.join())
  assert.ok(!seen.includes('files_write_file') && !seen.includes('files_create_directory'), seen.join())
  const graph = await user.callTool({ name: 'memory_read_graph', arguments: {} })
  assert.notEqual(graph.isError, true)
  const denied = user.callTool({ name: 'files_write_file', arguments: { path: '/nowhere', content: '' } })
  await assert.rejects(denied, /Unknown tool: files_write_file/)

  const master = await connect(t, gateway, keys.admin)
  const all = (await master.listTools()).tools.map(({ name }) => name)
  assert.ok(all.includes('files_write_file'), all.join())
  assert.deepEqual(gateway.bugs, [])
})

/** A gateway with a config whose programs come from this installation instead of from the network. */
async function useGateway(t: TestContext, yaml: string, env: Record<string, string> = {}): Promise<TestGateway> {
  const config: unknown = parse(yaml, (key, value: unknown) => (key === 'stdio' ? installed(value as Stdio) : value))
  const text = JSON.stringify(config).replaceAll(/"port":(3000|8080)\b/g, '"port":0')
  const gateway = await startGateway(text, { env })
  t.after(() => gateway.close())
  return gateway
}

interface Stdio {
  cmd: string
  args: string[]
}

function installed(stdio: Stdio): Stdio {
  const [yes, name = '', ...args] = stdio.args
  assert.deepEqual([stdio.cmd, yes], ['npx', '-y'])
  const file = createRequire(import.meta.url).resolve(`${name}/package.json`)
  const { bin } = JSON.parse(readFileSync(file, 'utf8')) as { bin: Record<string, string> }
  return { ...stdio, cmd: process.execPath, args: [join(dirname(file), Object.values(bin)[0]!), ...args] }
}

async function connect(t: TestContext, gateway: TestGateway, key?: string): Promise<Client> {
  const client = new Client({ name: 'docs', version: '1.0.0' })
  const url = new URL(`http://127.0.0.1:${gateway.port()}/mcp`)
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` }
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
  t.after(() => client.close())
  return client
}
