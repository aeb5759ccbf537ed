import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { remoteTargets, useMcpGateway } from './gateway.ts'
import { startReferenceServer } from './reference/server.ts'

const run = promisify(execFile)

const INSPECTOR = '@modelcontextprotocol/inspector@2.12.0'

/** The Inspector's command line: installed by `npx` when E2E_INSTALL is set, else used when `npx` has it. */
test('the Inspector', async (t) => {
  const missing = await whyMissing()
  if (missing !== null) return t.skip(missing)
  const server = await startReferenceServer()
  t.after(() => server.close())
  const gateway = await useMcpGateway(t, { one: remoteTargets({ whole: server.port }) })
  const inspect = async (...args: string[]): Promise<string> => {
    const { stdout } = await npx(['--cli', gateway.url('one'), '--transport', 'http', ...args])
    return stdout
  }
  await t.test('lists tools', async () => assert.match(await inspect('--method', 'tools/list'), /test_simple_text/))
  await t.test('calls a tool', async () => {
    const said = await inspect('--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', 'message=hello')
    assert.match(said, /hello/)
  })
  await t.test('reads a resource', async () => {
    assert.match(await inspect('--method', 'resources/read', '--uri', 'test://static-text'), /static text/)
  })
  await t.test('gets a prompt', async () => {
    assert.match(await inspect('--method', 'prompts/get', '--prompt-name', 'test_simple_prompt'), /simple prompt/)
  })
})

async function whyMissing(): Promise<string | null> {
  try {
    await npx(['--cli', '--help'])
    return null
  } catch (error) {
    if (process.env['E2E_INSTALL'] === '1') throw error
    return `npx has no ${INSPECTOR}; E2E_INSTALL=1 installs it`
  }
}

function npx(args: string[]) {
  const install = process.env['E2E_INSTALL'] === '1' ? '--yes' : '--no-install'
  return run('npx', [install, INSPECTOR, ...args], { timeout: 180_000, maxBuffer: 16 * 2 ** 20 })
}
