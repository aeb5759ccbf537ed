import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import { closedPort } from '../../packages/gateway/src/testing/scene.ts'
import type { TestClient } from './clients/client.ts'
import { connectStreamable } from './clients/sdk2.ts'
import { remoteTargets, useMcpGateway } from './gateway.ts'
import { moduleFile, programTarget } from './stdio-targets.ts'

/** Public servers from npm, unchanged, behind the gateway. */
test('public servers', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-mcp-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'note.txt'), 'A note in a file.')
  const everything = programTarget('everything', 'server-everything/dist/index.js')
  const filesystem = programTarget('filesystem', 'server-filesystem/dist/index.js', { args: [folder] })
  const memory = programTarget('memory', 'server-memory/dist/index.js', {
    env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
  })
  const gateway = await useMcpGateway(t, {
    everything: { mcp: { targets: [everything] } },
    filesystem: { mcp: { targets: [filesystem] } },
    memory: { mcp: { targets: [memory] } },
    all: { mcp: { targets: [everything, filesystem, memory] } },
    http: remoteTargets({ everything: await startEverything(t, 'streamableHttp') }),
    sse: sseTarget(await startEverything(t, 'sse')),
  })

  for (const place of ['everything', 'http', 'sse']) {
    await t.test(`server-everything: ${place === 'everything' ? 'stdio' : place}`, async (t) => {
      const client = await useClient(t, gateway.url(place))
      assert.equal(await client.call('get-sum', { a: 2, b: 40 }), 'The sum of 2 and 40 is 42.')
      await usesTheClient(client, '')
    })
  }

  await t.test('server-filesystem', async (t) => {
    const client = await useClient(t, gateway.url('filesystem'))
    assert.equal(await client.call('read_text_file', { path: join(folder, 'note.txt') }), 'A note in a file.')
    await client.call('write_file', { path: join(folder, 'new.txt'), content: 'written' })
    assert.equal(readFileSync(join(folder, 'new.txt'), 'utf8'), 'written')
    await assert.rejects(client.call('read_text_file', { path: '/etc/hostname' }), /denied/i)
  })

  await t.test('server-memory', async (t) => {
    const client = await useClient(t, gateway.url('memory'))
    const ada = { name: 'Ada', entityType: 'person', observations: ['wrote the first program'] }
    await client.call('create_entities', { entities: [ada] })
    assert.match(await client.call('search_nodes', { query: 'first program' }), /Ada/)
  })

  await t.test('all three behind one endpoint', async (t) => {
    const client = await useClient(t, gateway.url('all'))
    const names = await client.toolNames()
    for (const name of ['everything_echo', 'filesystem_read_text_file', 'memory_read_graph']) {
      assert.ok(names.includes(name), name)
    }
    assert.equal(await client.call('everything_echo', { message: 'hi' }), 'Echo: hi')
    assert.match(await client.call('filesystem_list_directory', { path: folder }), /note\.txt/)
    assert.match(await client.call('memory_read_graph'), /entities/)
    await usesTheClient(client, 'everything_')
  })
})

/** Checks the tools that use the model, the user and the roots of the client. */
async function usesTheClient(client: TestClient, prefix: string): Promise<void> {
  const heard: number[] = []
  const onprogress = ({ progress }: { progress: number }) => void heard.push(progress)
  await client.call(`${prefix}trigger-long-running-operation`, { duration: 0.3, steps: 3 }, { onprogress })
  assert.deepEqual(heard, [1, 2, 3])
  // The server offers these tools only once it knows that the client can answer.
  await eventually('the tool that asks the model is offered', async () =>
    (await client.toolNames()).includes(`${prefix}trigger-sampling-request`),
  )
  assert.match(await client.call(`${prefix}trigger-sampling-request`, { prompt: 'capital?', maxTokens: 10 }), /Paris/)
  assert.match(await client.call(`${prefix}trigger-elicitation-request`), /Ada/)
}

async function useClient(t: TestContext, url: string): Promise<TestClient> {
  const client = await connectStreamable(url, 'legacy')
  t.after(async () => {
    await client.leave()
    await client.close()
  })
  return client
}

function sseTarget(port: number): object {
  return { mcp: { targets: [{ name: 'everything', static: { host: '127.0.0.1', port, protocol: 'SSE' } }] } }
}

/** Starts server-everything with one of its HTTP transports; gives the port. */
async function startEverything(t: TestContext, transport: 'streamableHttp' | 'sse'): Promise<number> {
  const port = await closedPort()
  const child = spawn(process.execPath, [moduleFile('server-everything/dist/index.js'), transport], {
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  t.after(() => void child.kill('SIGKILL'))
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await eventually(`server-everything listens: ${transport}`, () => /running on port|listening on port/.test(said))
  return port
}
