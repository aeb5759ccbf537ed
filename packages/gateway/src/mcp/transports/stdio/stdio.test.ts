import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '@portico/http/json'
import { eventually, metric, useConfigFile, useProgram } from '../../../testing/process.ts'
import { useFleet } from '../../../testing/workers/fleet.ts'
import { begin, call, post, urlOf } from '../../../testing/mcp/mcp-post.ts'
import { isAlive } from '../../hub/processes/test-process.ts'

/** The program as people run it, with two workers. */

const SERVER = fileURLToPath(new URL('../../../testing/mcp/stdio-server.mjs', import.meta.url))

describe('programs behind a gateway with two workers', () => {
  test('serve each session from whichever worker, and know nothing of the key of sessions', async (t) => {
    const { program } = await useStdioGateway(t, { env: { OWN: 'yes' } })
    const sessions = await Promise.all(Array.from({ length: 5 }, () => begin(program)))
    const pids = new Set<number>()
    for (const session of sessions) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => call(program, session, 'pid')))
      assert.equal(new Set(answers.map(({ pid }) => pid)).size, 1)
      pids.add(Number(answers[0]!.pid))
    }
    assert.equal(pids.size, 5)
    const env = await call(program, sessions[0]!, 'env')
    assert.deepEqual([env.SESSION_KEY, env.OWN, env.SOMETHING], [undefined, 'yes', undefined])
    assert.equal(env.PATH, process.env['PATH'])
  })

  test('end with the gateway that is asked to end', async (t) => {
    const { program } = await useStdioGateway(t)
    const pids = await Promise.all([1, 2, 3].map(async () => pidOf(program, await begin(program))))
    assert.ok(pids.every(isAlive))
    program.child.kill('SIGTERM')
    assert.equal((await program.ended).code, 0)
    assert.ok(!pids.some(isAlive))
  })

  test('that will not end are killed, when the gateway is asked twice', async (t) => {
    const { program } = await useStdioGateway(t, { args: [SERVER, '--deaf'] })
    const pid = await pidOf(program, await begin(program))
    program.child.kill('SIGTERM')
    await program.logged(/draining/)
    program.child.kill('SIGINT')
    assert.equal((await program.ended).code, 0)
    await eventually('gone', () => !isAlive(pid))
  })

  test('outlive workers that die', async (t) => {
    const fleet = await useFleet(t, { workers: 2 })
    await fleet.apply(config())
    const session = await begin(fleet)
    const pid = await pidOf(fleet, session)
    fleet.tell({ name: null, how: 'die' })
    await eventually('died', () => fleet.restarts() === 2)
    await eventually('served again', async () => (await pidOf(fleet, session).catch(() => 0)) === pid)
  })

  test('find their input closed when the gateway is killed', async (t) => {
    const { program } = await useStdioGateway(t)
    const pid = await pidOf(program, await begin(program))
    program.child.kill('SIGKILL')
    await program.ended
    await eventually('gone', () => !isAlive(pid))
  })

  test('end with the session that a client ends', async (t) => {
    const { program } = await useStdioGateway(t)
    const session = await begin(program)
    const pid = await pidOf(program, session)
    const response = await fetch(urlOf(program), { method: 'DELETE', headers: { 'mcp-session-id': session } })
    assert.ok(response.ok)
    await eventually('gone', () => !isAlive(pid))
  })

  test('that died are started again, and the session goes on', async (t) => {
    const { program } = await useStdioGateway(t)
    const session = await begin(program)
    const pid = await pidOf(program, session)
    process.kill(pid, 'SIGKILL')
    await eventually('another', async () => {
      const { result } = await post(program, session, 'pid')
      return result !== undefined && (result as JsonObject).pid !== pid
    })
  })

  test('that a reload removes or changes are ended, others stay', async (t) => {
    const { program, file } = await useStdioGateway(t)
    const session = await begin(program)
    const pid = await pidOf(program, session)
    file.replace(config({ sessionIdleTimeout: '29m' }))
    await eventually('reloaded', async () => (await metric(program, 'portico_config_generation')) === 2)
    await eventually('gone', () => !isAlive(pid))
    const next = await pidOf(program, session)
    file.replace(config({ sessionIdleTimeout: '29m' }, { sessionLifetime: '72h' }))
    await eventually('reloaded', async () => (await metric(program, 'portico_config_generation')) === 3)
    assert.equal(await pidOf(program, session), next)
  })

  test('put what they say on standard error into the log', async (t) => {
    const { program } = await useStdioGateway(t)
    const session = await begin(program)
    await call(program, session, 'stderr', { text: 'hello from below\n' })
    await program.logged(/mcp.*stderr.*target=fake.*hello from below/)
  })
})

function config(program: object = {}, backend: object = {}): object {
  const { sessionIdleTimeout = '30m', ...stdio } = program as { sessionIdleTimeout?: string }
  const target = { name: 'fake', stdio: { cmd: process.execPath, args: [SERVER], ...stdio } }
  const mcp = { targets: [target], sessionIdleTimeout, ...backend }
  const routes = [{ matches: [{ path: { pathPrefix: '/mcp' } }], backends: [{ mcp }] }]
  return {
    config: { workers: 2, connectionMinTerminationDeadline: '0s' },
    binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes }] }],
  }
}

async function useStdioGateway(t: TestContext, stdio: object = {}) {
  const file = useConfigFile(t, config(stdio))
  const program = await useProgram(t, {
    args: ['-f', file.file],
    env: { SESSION_KEY: randomBytes(32).toString('hex'), SOMETHING: 'of the gateway' },
  })
  return { program, file }
}

async function pidOf(program: { port(): number }, session: string): Promise<number> {
  return Number((await call(program, session, 'pid')).pid)
}
