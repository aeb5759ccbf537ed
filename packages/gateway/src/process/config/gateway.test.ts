import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../sources/file.ts'
import { Reservations } from '../../state/reservations.ts'
import { createTable, SharedTable } from '../../state/shared-table.ts'
import { createLogger } from '../../telemetry/log/logger.ts'
import { parseLogFilter } from '../../telemetry/log/log-filter.ts'
import { Collector } from '../../telemetry/metrics/metrics-collect.ts'
import { httpConfig } from '../../testing/scene.ts'
import { Gateway } from './gateway.ts'
import type { Supervisor } from '../workers/supervisor.ts'
import type { LiveConfig } from '../workers/worker-handle.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

function useGateway(slots: number) {
  let now = DAY_MS
  const refusals: string[] = []
  const applied: LiveConfig[] = []
  const supervisor = {
    counters: new Reservations(new SharedTable(createTable(slots)), () => now),
    workers: 1,
    apply: (config: LiveConfig) => Promise.resolve(applied.push(config)).then(() => refusals.shift() ?? null),
  }
  const filter = parseLogFilter('off')
  assert.ok(filter.ok)
  const log = createLogger({ filter: filter.value, format: 'text', write() {} })
  const gateway = new Gateway({
    supervisor: supervisor as unknown as Supervisor,
    log: log.child('main'),
    collector: new Collector(),
    ipv6: true,
    sessionKeys: () => ({ keys: ['of sessions'] }),
  })
  const apply = (routes: object[]): Promise<string[]> => {
    const loaded = loadConfig(JSON.stringify(httpConfig(routes)), { file: 'f', dir: '/', env: {} })
    assert.ok(loaded.ok)
    now += 2 * DAY_MS
    return gateway.apply(loaded.ir, loaded.explain)
  }
  return { gateway, apply, applied, refusals }
}

const limited = (name: string) => ({
  name,
  matches: [{ path: { exact: `/${name}` } }],
  policies: { directResponse: { status: 200 }, rateLimit: { local: [{ requests: 1, unit: 'Hours' }] } },
})

test('limits that came and went over many reloads leave their room to others', async () => {
  const { apply, applied } = useGateway(16)
  for (let round = 0; round < 40; round++) {
    // The first attempt that finds no room notes that a slot is not used, and the day begins.
    const problems = await apply([limited('kept'), limited(`round${round}`)])
    if (problems.length > 0) assert.deepEqual(await apply([limited('kept'), limited(`round${round}`)]), [], `${round}`)
  }
  assert.equal(applied.length, 40)
  assert.ok(applied.slice(1).every(({ change }) => change?.routes.put.length === 1))
})

test('a change that cannot be compiled has the problems of a fresh start, and the next change starts from the last good config', async () => {
  const { gateway, apply, applied } = useGateway(64)
  assert.deepEqual(await apply([limited('a')]), [])
  const twice = { secretRef: { data: { one: 'the-same-key', two: 'the-same-key' } } }
  const bad = { name: 'b', matches: [{ path: { exact: '/b' } }], policies: { apiKeyAuthentication: twice } }
  const problems = await apply([limited('a'), bad])
  assert.match(problems.join('\n'), /routes\[1\]\.policies\.apiKeyAuthentication.*found the key of "one" a second time/)
  assert.equal(gateway.generation, 1)
  assert.deepEqual(await apply([limited('a'), limited('c')]), [])
  const { generation, change } = applied.at(-1)!
  assert.equal(generation, 2)
  assert.deepEqual(
    change?.routes.put.map(({ resource }) => resource.name),
    ['c'],
  )
})

test('the number of a config that workers have refused is given to no other', async () => {
  const { gateway, apply, applied, refusals } = useGateway(16)
  await apply([limited('one')])
  refusals.push('one of them cannot')
  assert.deepEqual(await apply([limited('two')]), ['one of them cannot'])
  assert.equal(gateway.generation, 1)
  assert.deepEqual(await apply([limited('three')]), [])
  assert.deepEqual([gateway.generation, applied.map(({ generation }) => generation)], [3, [1, 2, 3]])
})

test('ids of files and batches get the session keys, and chats with other providers need none', async () => {
  const { apply, applied } = useGateway(16)
  const keysFor = async (ai: object): Promise<readonly string[] | undefined> => {
    assert.deepEqual(await apply([{ backends: [{ ai }] }]), [])
    return applied.at(-1)?.sessionKeys
  }
  assert.deepEqual(await keysFor({ provider: { gemini: {} } }), [])
  assert.deepEqual(await keysFor({ provider: { openai: {} } }), ['of sessions'])
  const models = [{ name: '*', provider: { anthropic: {} } }]
  assert.deepEqual(await keysFor({ models }), ['of sessions'])
})
