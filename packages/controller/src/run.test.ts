import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { createLogger, parseLogFilter } from '@portico/gateway/log'
import { main } from './main.ts'
import { run } from './run.ts'
import { parseCommand } from './settings.ts'
import { eventually } from './testing/eventually.ts'
import { useObjectApi } from './testing/object-api.ts'
import { apiByKind } from './deploy/objects.ts'
import { watchedKinds } from './watch/watched-kinds.ts'

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/portico-system/leases'

describe('the program of the controller', () => {
  it('becomes ready, leads, counts, and shuts down cleanly', async (t) => {
    const { lines, settings, api } = await useCluster(t)
    const stop = new AbortController()
    const logger = createLogger({ filter: settings.filter, format: 'text', write: (line) => void lines.push(line) })
    const running = run({ settings: settings.all, logger, signal: stop.signal })
    t.after(async () => {
      stop.abort()
      await running
    })
    await eventually('it listens', () => lines.some((line) => line.includes('listening for data planes')))
    await eventually('it has read all kinds', () => lines.some((line) => line.includes('initial sync complete')))
    const health = /health=(\S+)/.exec(lines.join(''))?.[1] ?? ''
    const get = async (path: string): Promise<[number, string]> => {
      const response = await fetch(`http://${health}${path}`)
      return [response.status, await response.text()]
    }
    assert.deepEqual(await get('/readyz'), [200, 'ready\n'])
    let metrics = ''
    await eventually('it leads', async () => {
      metrics = (await get('/metrics'))[1]
      return /^portico_controller_leader 1$/m.test(metrics)
    })
    assert.match(metrics, /^portico_controller_synchronized 1$/m)
    assert.match(metrics, /^portico_controller_stream_messages_total\{type="config"\} 0$/m)
    const { status, stdout, error } = spawnSync('promtool', ['check', 'metrics'], { input: metrics, encoding: 'utf8' })
    if (error === undefined) assert.equal(status, 0, stdout)
    assert.ok(api.asked.some(({ method, path }) => method === 'POST' && path === LEASES))
    stop.abort()
    await running
    await assert.rejects(get('/readyz'))
  })

  it('prints its options, and rejects others', async (t) => {
    const [out, err] = [
      t.mock.method(process.stdout, 'write', () => true),
      t.mock.method(process.stderr, 'write', () => true),
    ]
    const codes = [await main(['--help']), await main(['--version']), await main(['--colour'])]
    const [printed, complained] = [out, err].map(({ mock }) =>
      mock.calls.map(({ arguments: [text] }) => String(text)).join(''),
    )
    t.mock.restoreAll()
    assert.deepEqual(codes, [0, 0, 2])
    assert.match(printed ?? '', /usage: portico-controller[\s\S]*portico-controller \d+\.\d+\.\d+\n/)
    assert.match(complained ?? '', /^portico-controller: .*--colour/)
  })
})

async function useCluster(t: TestContext) {
  const plurals = [...watchedKinds, ...Object.values(apiByKind)].map(({ kind, plural }) => [kind, plural] as const)
  const api = await useObjectApi(t, Object.fromEntries(plurals))
  const folder = mkdtempSync(join(tmpdir(), 'portico-run-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const kubeconfig = join(folder, 'kubeconfig')
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: api.connection.server } }],
      users: [{ name: 'u', user: { token: 't' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
  )
  const addresses = ['--stream-addr', '127.0.0.1:0', '--health-addr', '127.0.0.1:0', '--admin-addr', 'off']
  const command = parseCommand(['--kubeconfig', kubeconfig, ...addresses], {})
  const filter = parseLogFilter('info')
  if (command.kind !== 'run' || !filter.ok) return assert.fail('these are settings')
  const lines: string[] = []
  return { api, lines, settings: { all: command.settings, filter: filter.value } }
}
