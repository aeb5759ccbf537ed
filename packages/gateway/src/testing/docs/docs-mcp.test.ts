import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { parse } from 'yaml'
import { fencesOf, readPage } from './docs-pages.ts'
import { startGateway, type TestGateway } from '../gateway.ts'
import { fromInstallation } from '../installed-program.ts'

/** Runs the MCP examples of the docs unchanged, with the real servers that they name. */

test('the config that begins the page about MCP serves the tools below it', async (t) => {
  const page = readPage('docs/mcp.md')
  const { text } = fencesOf(page).find(({ lang }) => lang === 'yaml')!
  const shown = /^```\n(memory_[^]*?)^```$/m.exec(page)![1]!.match(/[\w-]{2,}/g)!
  assert.ok(shown.length >= 4, shown.join())
  const gateway = await useGateway(t, text)
  const client = await connect(t, gateway)
  const names = new Set((await client.listTools()).tools.map(({ name }) => name))
  for (const name of shown) assert.ok(names.has(name), `${name} is not in ${[...names].join()}`)
})

test('the page about fewer tools says what its config serves, and what that saves', async (t) => {
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

/** A gateway with a config whose programs come from this installation instead of from the network. */
async function useGateway(t: TestContext, yaml: string): Promise<TestGateway> {
  const config: unknown = parse(yaml, fromInstallation)
  const text = JSON.stringify(config).replaceAll(/"port":(3000|8080)\b/g, '"port":0')
  const gateway = await startGateway(text)
  t.after(() => gateway.close())
  return gateway
}

async function connect(t: TestContext, gateway: TestGateway): Promise<Client> {
  const client = new Client({ name: 'docs', version: '1.0.0' })
  const url = new URL(`http://127.0.0.1:${gateway.port()}/mcp`)
  await client.connect(new StreamableHTTPClientTransport(url))
  t.after(() => client.close())
  return client
}
