import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { parse } from 'yaml'
import { fencesOf, isInstalled, readPage, run } from './docs-pages.ts'
import { type DocsStand, useDocsStand } from './docs-stand.ts'
import { startGateway } from '../gateway.ts'
import { fromInstallation } from '../installed-program.ts'

/** Claims of the guides from zero to production about their configs, beyond the requests that they show. */

describe('the guides about models', () => {
  test('keys: others get 401, and a model that a team may not use is 403', async (t) => {
    const [, restricted = ''] = configsOf('docs/models/client-keys.md')
    const { gateway, fakes } = await useDocsStand(t, restricted)
    const ask = (key: string, model: string): Promise<number> => statusOf(gateway.port(), key, { model })
    assert.equal(await ask('k-wrong-00000000', 'gpt-6-luna'), 401)
    assert.equal(await ask('k-support-5c7d10e9', 'gpt-6-sol'), 403)
    assert.deepEqual(fakes[0]?.seen, [])
    assert.equal(await ask('k-research-77aa0142', 'gpt-6-sol'), 200)
  })

  test('keys: the key of the hash is the one that the other config names', async (t) => {
    const [hashed = ''] = configsOf('docs/models/client-keys.md')
    const { gateway } = await useDocsStand(t, hashed)
    assert.equal(await statusOf(gateway.port(), 'k-research-77aa0142', { model: 'gpt-6-luna' }), 200)
  })

  test('failover: the second provider answers when the first one fails', async (t) => {
    const [config = ''] = configsOf('docs/models/failover.md')
    const { gateway, fakes } = await useDocsStand(t, config)
    const [first, second] = fakes
    first!.fault = { failure: { kind: 'rateLimit', message: 'Slow down, please' } }
    assert.equal(await statusOf(gateway.port(), '', { model: 'any' }), 200)
    assert.equal(first?.seen.length, 1)
    assert.equal(second?.seen.length, 1)
  })

  test('guards: the provider reads the mask, and never the name of the project', async (t) => {
    const [config = ''] = configsOf('docs/models/guards-and-budgets.md')
    const stand = await useDocsStand(t, config)
    assert.equal(await say(stand, 'Write to ann@example.com'), 200)
    assert.match(stand.fakes[0]?.seen[0]?.raw.toString() ?? '', /Write to <EMAIL_ADDRESS>/)
    assert.equal(await say(stand, 'What is Project-Nightjar?'), 403)
    assert.equal(stand.fakes[0]?.seen.length, 1)
  })
})

describe('the guides about tools', () => {
  test('first tools: the client sees those that the page shows', async (t) => {
    const names = await toolsOf(t, 'docs/tools/first-tools.md', '')
    for (const name of shownTools('docs/tools/first-tools.md')) assert.ok(names.includes(name), name)
  })

  test('rules: a reader sees what the page shows, an editor sees more', async (t) => {
    const page = 'docs/tools/rules.md'
    assert.deepEqual(await toolsOf(t, page, 'k-reader-5c7d10e9'), shownTools(page))
    assert.ok((await toolsOf(t, page, 'k-editor-77aa0142')).includes('create_entities'))
  })
})

test('migrating from nginx begins with a config that nginx takes', async (t) => {
  if (!(await isInstalled('nginx'))) return t.skip('no nginx on this machine')
  const before = fencesOf(readPage('docs/migrating/nginx.md')).find(({ lang }) => lang === 'nginx')
  const folder = mkdtempSync(join(tmpdir(), 'portico-docs-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, `pid ${folder}/pid;\nevents {}\nhttp {\naccess_log off;\n${before?.text}}\n`)
  const { code, stderr } = await run(['nginx', '-t', '-e', join(folder, 'error.log'), '-c', file], '')
  assert.equal(code, 0, stderr)
})

function configsOf(page: string): string[] {
  return fencesOf(readPage(page))
    .filter(({ lang }) => lang === 'yaml')
    .map(({ text }) => text)
}

async function statusOf(port: number, key: string, body: object): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== '' && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'hello' }], ...body }),
  })
  await answer.arrayBuffer()
  return answer.status
}

function say({ gateway }: DocsStand, content: string): Promise<number> {
  const messages = [{ role: 'user', content }]
  return statusOf(gateway.port(), 'k-support-5c7d10e9', { model: 'gpt-6-luna', messages })
}

/** The block without a language that lists names of tools. */
function shownTools(page: string): string[] {
  const [, names = ''] = /^```\n([\w -]+)\n```$/m.exec(readPage(page)) ?? []
  assert.notEqual(names, '', page)
  return names.split(/\s+/)
}

async function toolsOf(t: TestContext, page: string, key: string): Promise<string[]> {
  const [config = ''] = configsOf(page)
  const installed = JSON.stringify(parse(config, fromInstallation)).replaceAll('"port":8080', '"port":0')
  const gateway = await startGateway(installed)
  t.after(() => gateway.close())
  const client = new Client({ name: 'docs', version: '1.0.0' })
  const headers = key === '' ? {} : { authorization: `Bearer ${key}` }
  const url = new URL(`http://127.0.0.1:${gateway.port()}/mcp`)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
  t.after(() => client.close())
  return (await client.listTools()).tools.map(({ name }) => name)
}
