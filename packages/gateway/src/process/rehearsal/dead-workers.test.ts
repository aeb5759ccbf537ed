import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../testing/client.ts'
import { eventually } from '../../testing/process.ts'
import { useOrigin } from '../../testing/scene.ts'
import { createLogger } from '../../telemetry/log/logger.ts'
import { parseLogFilter } from '../../telemetry/log/log-filter.ts'
import { useFleet } from '../../testing/workers/fleet.ts'
import { Rehearsals } from './rehearsals.ts'

test('a worker that is started during a rehearsal takes part in it, and in its end', async (t) => {
  const origin = await useOrigin(t)
  const fleet = await useFleet(t, { workers: 1 })
  const routes = [{ name: 'shop', backends: [{ host: origin.host }] }]
  await fleet.apply({ binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes }] }] })
  const { gateway, collector } = fleet
  const filter = parseLogFilter('off')
  assert.ok(filter.ok)
  const log = createLogger({ filter: filter.value, format: 'text', write() {} }).child('main')
  const rehearsals = new Rehearsals({ gateway, collector, log, repeated() {}, keys: () => null })
  const begun = { route: 'shop', status: 503, percentage: 100, for: 60_000, lease: 4_000 }
  const started = await rehearsals.start(begun, 'test')
  assert.ok(!('problem' in started))
  const status = async (): Promise<number> => {
    try {
      return (await request(fleet.port())).status
    } catch {
      return 0
    }
  }
  assert.equal(await status(), 503)
  fleet.tell({ name: 'worker-0', how: 'die' })
  await eventually('replaced', () => fleet.restarts() === 1)
  await eventually('served again', async () => (await status()) === 503)
  await eventually('over', () => rehearsals.state().last?.end === 'lease')
  assert.equal(await status(), 200)
})
