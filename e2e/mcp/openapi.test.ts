import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { closedPort, httpConfig, pathPrefix } from '../../packages/gateway/src/testing/scene.ts'
import type { JsonObject } from '../../packages/http/src/json/json.ts'
import { useShippedGateway } from '../shipped-gateway.ts'
import { sampleArguments } from './sample-arguments.ts'

const run = promisify(execFile)

const PRISM = '@stoplight/prism-cli@5.14.2'
const GITHUB = '@octokit/openapi@23.0.2'
const CAN_INSTALL = process.env['E2E_INSTALL'] === '1'

const examples = dirname(fileURLToPath(import.meta.resolve('@readme/oas-examples/package.json')))

interface Foreign {
  /** More of the target. */
  target?: object
  /** Prism itself ends at requests that lack an optional list in a header. */
  which?: readonly ('required' | 'all')[]
  /** Tools that need another credential than the target has. */
  unauthorized?: readonly string[]
}

/** Documents of others, with what each is rich in. */
const DOCUMENTS: Record<string, Foreign> = {
  '2.0/json/petstore.json': { unauthorized: ['getPetById', 'getInventory'] }, // forms, files, lists with commas
  '3.0/json/petstore.json': { unauthorized: ['getInventory'] },
  '3.1/json/petstore.json': { unauthorized: ['getInventory'] },
  '3.0/json/parameters-style.json': {
    // Prism ends at values without a style of its own, in paths and between blanks or pipes.
    target: { exclude: ['paths_*', '*Delimited*', 'form*'].map((operationId) => ({ operationId })) },
    which: ['all'],
  },
  '3.0/json/parameters-common.json': {},
  '3.0/json/star-trek.json': {}, // 120 operations, urlencoded bodies
  '3.0/json/uspto.json': {},
  '3.1/json/train-travel.json': {},
  '3.0/json/form-data.json': {},
  // Prism takes one file of a name.
  '3.0/json/file-uploads.json': { target: { exclude: [{ path: '*multipart-formdata', methods: ['PUT'] }] } },
  '3.0/json/response-multiple-mediatypes.json': {},
}

test('calls of tools are what documents of others allow', async (t) => {
  const missing = await whyMissing()
  if (missing !== null) return t.skip(missing)
  let calls = 0
  for (const [file, foreign] of Object.entries(DOCUMENTS)) {
    await t.test(file, async (t) => {
      calls += await callAll(t, join(examples, file), foreign)
    })
  }
  t.diagnostic(`${calls} calls`)
})

test("calls of tools are what GitHub's document allows", async (t) => {
  const missing = CAN_INSTALL ? await whyMissing() : `E2E_INSTALL=1 fetches ${GITHUB}`
  if (missing !== null) return t.skip(missing)
  const folder = mkdtempSync(join(tmpdir(), 'portico-github-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const packed = await run('npm', ['pack', GITHUB, '--silent', '--pack-destination', folder], { timeout: 300_000 })
  const file = 'package/generated/api.github.com.json'
  await run('tar', ['-xzf', join(folder, packed.stdout.trim()), '-C', folder, file])
  const include = ['issues', 'gists', 'search'].map((tag) => ({ tag }))
  const calls = await callAll(t, join(folder, file), { target: { include } })
  t.diagnostic(`${calls} calls`)
})

/** Calls every tool of a document, with the arguments it must have and with all; prism checks what arrives. */
async function callAll(t: TestContext, file: string, foreign: Foreign): Promise<number> {
  const { target, which = ['required', 'all'], unauthorized = [] } = foreign
  const port = await usePrism(t, file)
  const policies = { auth: { key: 'any' } }
  const openapi = { host: '127.0.0.1', port, basePath: '/', schema: { file }, policies, ...target }
  const backends = [{ mcp: { targets: [{ name: 'api', openapi }] } }]
  const gateway = await useShippedGateway(t, httpConfig([{ ...pathPrefix('/mcp'), backends }]))
  const client = new Client({ name: 'e2e', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${gateway.port()}/mcp`)))
  t.after(() => client.close())
  const { tools } = await client.listTools()
  const refused: string[] = []
  for (const { name, inputSchema } of tools) {
    for (const each of which) {
      const args = sampleArguments(inputSchema as JsonObject, each)
      const { structuredContent } = await client.callTool({ name, arguments: args })
      const { type, detail, validation } = structuredContent as Partial<Record<string, unknown>>
      if (typeof type !== 'string' || !type.startsWith(ERRORS)) continue
      const code = type.slice(ERRORS.length)
      if (code === 'UNAUTHORIZED' && unauthorized.includes(name)) continue
      refused.push(`${name} ${JSON.stringify(args)}: ${code} ${JSON.stringify(validation ?? detail)}`)
    }
  }
  assert.deepEqual(refused, [])
  assert.deepEqual(gateway.bugs, [])
  return tools.length * which.length
}

const ERRORS = 'https://stoplight.io/prism/errors#'

/** A server that answers as the document says, and refuses requests that do not. */
async function usePrism(t: TestContext, file: string): Promise<number> {
  const port = await closedPort()
  const args = [...npx(), 'mock', '--errors', '-h', '127.0.0.1', '-p', String(port), file]
  // In a group of its own: `npx` does not pass signals on.
  const child = spawn('npx', args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  t.after(() => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
  })
  let said = ''
  await new Promise<void>((resolve, reject) => {
    child.on('exit', () => reject(new Error(`prism ended: ${said}`)))
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString()
        if (said.includes('Prism is listening')) resolve()
      })
    }
  })
  child.stdout.resume()
  child.stderr.resume()
  return port
}

async function whyMissing(): Promise<string | null> {
  try {
    await run('npx', [...npx(), '--version'], { timeout: 300_000 })
    return null
  } catch (error) {
    if (CAN_INSTALL) throw error
    return `npx has no ${PRISM}; E2E_INSTALL=1 installs it`
  }
}

function npx(): string[] {
  return [CAN_INSTALL ? '--yes' : '--no-install', PRISM]
}
