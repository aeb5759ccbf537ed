import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import { eventually, metric, useConfigFile, useProgram } from '../../testing/process.ts'
import { useOrigin } from '../../testing/scene.ts'

/** A preload script that throws an exception outside of any request when the process gets a signal. */
const THROWS = `process.on('SIGWINCH', () => setImmediate(() => { throw new Error('told to throw') }))
process.on('SIGURG', () => void Promise.reject(new Error('told to reject')))
`

/** Starts a gateway with one worker, which throws an exception on a signal. */
async function useGateway(t: TestContext, config: { workers?: number; separateWorker?: boolean } = { workers: 1 }) {
  const origin = await useOrigin(t)
  const { file, folder, edit } = useConfigFile(t, saying(origin.host))
  function saying(host: string, path = '/') {
    const routes = [{ matches: [{ path: { pathPrefix: path } }], backends: [{ host }] }]
    return { config, binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes }] }] }
  }
  const preload = join(folder, 'throws.cjs')
  writeFileSync(preload, THROWS)
  const env = { NODE_OPTIONS: `--require=${preload}` }
  const program = await useProgram(t, { args: ['-f', file], env })
  return { program, edit, serve: (path: string) => edit(saying(origin.host, path)) }
}

const LINUX_ONLY = process.platform === 'linux' ? false : 'threads have names in /proc on Linux alone'

function workerThreads(pid: number | undefined): string[] {
  const tasks = `/proc/${pid}/task`
  const names = readdirSync(tasks).map((task) => readFileSync(join(tasks, task, 'comm'), 'utf8').trim())
  return names.filter((name) => name.includes('worker-0'))
}

describe('a gateway with one worker', () => {
  test('serves in the main thread, unless it is told to start a thread', { skip: LINUX_ONLY }, async (t) => {
    const { program } = await useGateway(t)
    assert.deepEqual(workerThreads(program.child.pid), [])
    const { program: separate } = await useGateway(t, { workers: 1, separateWorker: true })
    assert.equal(workerThreads(separate.child.pid).length, 1)
  })

  for (const [how, signal] of [
    ['thrown', 'SIGWINCH'],
    ['rejected', 'SIGURG'],
  ] as const) {
    test(`keeps serving when an error is ${how} outside of any request, and says so`, async (t) => {
      const { program } = await useGateway(t)
      assert.equal((await request(program.port())).status, 200)
      program.child.kill(signal)
      await program.logged(/cannot replace its only thread/)
      assert.equal((await request(program.port())).status, 200)
      assert.equal(await metric(program, 'portico_worker_restarts_total'), 0)
      const text = await (await fetch(`${program.stats}/metrics`)).text()
      assert.match(text, /^portico_internal_errors_total\{scope="worker"\} 1$/m)
      assert.equal((await fetch(`${program.readiness}/healthz/ready`)).status, 200)
      assert.equal((await fetch(`${program.readiness}/healthz/live`)).status, 200)
    })
  }

  test('takes a new config, rejects a bad one, and ends with idle connections to a backend', async (t) => {
    const { program, edit, serve } = await useGateway(t)
    assert.equal((await request(program.port(), { path: '/b' })).status, 200)
    serve('/a')
    await eventually('the new config', async () => (await request(program.port(), { path: '/b' })).status === 404)
    edit('binds: 3')
    await program.logged(/config rejected/)
    assert.equal((await request(program.port(), { path: '/a' })).status, 200)
    program.child.kill('SIGTERM')
    assert.deepEqual(await program.ended, { code: 0, signal: null })
    assert.match(program.stdout(), /draining[^]*stopped/)
  })
})
