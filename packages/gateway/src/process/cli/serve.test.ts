import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { AdminCredentials } from '../../admin/credentials.ts'
import { startServers } from '../../admin/servers.ts'
import { createAuthority } from '../../testing/certificates.ts'
import { request } from '../../testing/client.ts'
import { eventually, metric, useConfigFile, useProgram, type Program } from '../../testing/process.ts'
import { noCaches } from '../../testing/admin/cache-source.ts'
import { configOf } from '../../testing/admin/config-source.ts'
import { noHistory } from '../../testing/admin/metrics-source.ts'
import { noRehearsals } from '../../testing/admin/no-rehearsals.ts'
import { questionsOf } from '../../testing/admin/question-source.ts'
import { noBacktests, noCapsules } from '../../testing/admin/simulation-sources.ts'
import { requestsOf } from '../../testing/admin/requests-source.ts'
import { noPages } from '../../admin/ui/page-source.ts'

const FROM_HERE = { 'x-portico-same-origin': '1' }

describe('readiness', () => {
  test('is not given before the first config is live', async (t) => {
    let generation = 0
    const servers = await startServers({
      addresses: { admin: '127.0.0.1:0', stats: '127.0.0.1:0', readiness: '127.0.0.1:0' },
      credentials: new AdminCredentials(null),
      metrics: () => [],
      readiness: () => ({ draining: false, pending: generation === 0 ? ['config'] : [] }),
      silentWorkers: () => Promise.resolve([]),
      configDump: () => ({}),
      logFilter: () => 'info',
      setLogFilter: () => null,
      requests: requestsOf(),
      trace: { isFull: true, check: () => null, watch: () => () => {} },
      quit() {},
      config: configOf(),
      backtests: noBacktests,
      capsules: noCapsules,
      questions: questionsOf(),
      history: noHistory(),
      usage: null,
      keys: null,
      caches: noCaches,
      rehearsals: noRehearsals,
      pages: noPages,
    })
    assert.ok(servers.ok)
    t.after(() => servers.value.close())
    const url = `http://${servers.value.addresses.readiness[0]}/healthz/ready`
    const before = await fetch(url)
    assert.equal(before.status, 503)
    assert.match(await before.text(), /config/)
    generation = 1
    assert.equal((await fetch(url)).status, 200)
  })

  test('ends with the wish to stop, while traffic goes on until the load balancer has noticed', async (t) => {
    const { file } = useConfigFile(t, direct({ connectionMinTerminationDeadline: '700ms' }))
    const program = await useProgram(t, { args: ['-f', file] })
    assert.equal(await readiness(program), 200)
    program.child.kill('SIGTERM')
    await eventually('not ready', async () => (await readiness(program)) === 503)
    const response = await request(program.port(), { headers: { connection: 'keep-alive' } })
    assert.equal(response.status, 200)
    assert.equal(response.headers['connection'], undefined)
    assert.deepEqual(await program.ended, { code: 0, signal: null })
  })
})

describe('a running gateway', () => {
  test('tells its state in metrics and a dump without secrets', async (t) => {
    const config = direct()
    const { file, folder } = useConfigFile(t, {
      ...config,
      binds: [
        ...config.binds,
        {
          port: 0,
          address: '127.0.0.1',
          listeners: [{ name: 'secure', protocol: 'HTTPS', tls: { cert: './tls.crt', key: './tls.key' }, routes: [] }],
        },
      ],
    })
    const issued = createAuthority().issue({ names: ['localhost'] })
    writeFileSync(join(folder, 'tls.crt'), issued.cert)
    writeFileSync(join(folder, 'tls.key'), issued.key)
    const program = await useProgram(t, { args: ['-f', file] })

    assert.equal((await request(program.port())).body, 'hi')
    assert.equal(await metric(program, 'portico_config_generation'), 1)
    assert.equal(await metric(program, 'portico_config_synchronized'), 1)
    assert.equal(await metric(program, 'portico_worker_restarts_total'), 0)
    await eventually('counted', async () => (await metric(program, 'portico_requests_total')) === 1)

    const dump = await (await fetch(`${program.admin}/config_dump`)).text()
    const parsed = JSON.parse(dump) as { generation: number; listeners: { name: string }[] }
    assert.equal(parsed.generation, 1)
    assert.deepEqual(
      parsed.listeners.map((listener) => listener.name),
      ['web', 'secure'],
    )
    assert.doesNotMatch(dump, /PRIVATE KEY/)
    const secret = issued.key.split('\n')[1]!
    assert.ok(!dump.includes(secret))
  })

  test('logs requests at info, and not when the level is raised at run time', async (t) => {
    const { file } = useConfigFile(t, direct())
    const program = await useProgram(t, { args: ['-f', file] })
    await request(program.port(), { path: '/first' })
    await program.logged(/\/first/)
    const level = async (name: string): Promise<void> => {
      const changed = await fetch(`${program.admin}/logging?level=${name}`, { method: 'POST', headers: FROM_HERE })
      assert.equal(changed.status, 200)
    }
    // A change reaches the worker by a message: until then lines may come. Later lines come behind them.
    await eventually('quiet', async () => {
      await level('warn')
      const quiet = `/quiet-${randomUUID()}`
      await request(program.port(), { path: quiet })
      await level('info')
      const loud = `/loud-${randomUUID()}`
      await eventually('logged again', async () => {
        await request(program.port(), { path: loud })
        return program.stdout().includes(loud)
      })
      return !program.stdout().includes(quiet)
    })
  })

  test('can be ended from the admin server', async (t) => {
    const { file } = useConfigFile(t, direct())
    const program = await useProgram(t, { args: ['-f', file] })
    assert.equal((await fetch(`${program.admin}/quitquitquit`, { method: 'POST', headers: FROM_HERE })).status, 200)
    assert.deepEqual(await program.ended, { code: 0, signal: null })
    assert.match(program.stdout(), /stopped/)
  })

  test('without IPv6 listens on IPv4 alone', async (t) => {
    const config = direct({ enableIpv6: false })
    const { file } = useConfigFile(t, { ...config, binds: [{ port: 0, listeners: config.binds[0]!.listeners }] })
    const program = await useProgram(t, { args: ['-f', file] })
    assert.equal((await request(program.port())).body, 'hi')
    await assert.rejects(fetch(`http://[::1]:${program.port()}/`))
  })
})

function direct(config: object = {}) {
  const routes = [{ policies: { directResponse: { status: 200, body: 'hi' } } }]
  return {
    config: { workers: 1, ...config },
    binds: [{ port: 0, address: '127.0.0.1', listeners: [{ name: 'web', routes }] }],
  }
}

async function readiness(program: Program): Promise<number> {
  return (await fetch(`${program.readiness}/healthz/ready`)).status
}
