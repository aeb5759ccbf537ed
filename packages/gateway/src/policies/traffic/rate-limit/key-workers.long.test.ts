import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { useFleet } from '../../../testing/workers/fleet.ts'
import { KeepAliveClient } from '../../../testing/keep-alive-client.ts'
import { eventually, metric, useConfigFile, useProgram } from '../../../testing/process.ts'

const KEYS = 8
const CONNECTIONS = 32

describe('two workers', () => {
  test('let exactly the budget of each key through, and keep it over a reload', async (t) => {
    const config = useConfigFile(t, limited({ requests: 60 }))
    const program = await useProgram(t, { args: ['-f', config.file] })
    const before = await drive(program.port(), 40)
    config.replace(limited({ requests: 60 }, 'another'))
    await eventually('live', async () => (await metric(program, 'portico_config_generation')) === 2)
    const after = await drive(program.port(), 120)
    for (let key = 0; key < KEYS; key++) {
      const told = [...before[key]!, ...after[key]!].filter((remaining) => remaining !== null)
      // Each part of a budget once.
      assert.deepEqual(
        told.sort((a, b) => b - a),
        Array.from({ length: 60 }, (_, index) => 59 - index),
      )
    }
    config.replace(limited({ requests: 60, burst: 5 }))
    await eventually('live', async () => (await metric(program, 'portico_config_generation')) === 3)
    for (const told of await drive(program.port(), 20)) {
      assert.equal(told.filter((remaining) => remaining !== null).length, 5)
    }
  })

  test('keep the budgets when they die', async (t) => {
    const fleet = await useFleet(t, { workers: 2 })
    const config = limited({ requests: 30 })
    await fleet.apply(config)
    const before = await drive(fleet.port(), 20)
    for (const name of ['worker-0', 'worker-1']) {
      const restarts = fleet.restarts()
      fleet.tell({ name, how: 'die' })
      await eventually('died', () => fleet.restarts() !== restarts)
      await eventually('two again', () => fleet.supervisor.size === 2)
      await fleet.apply(config)
    }
    const after = await drive(fleet.port(), 40)
    for (let key = 0; key < KEYS; key++) {
      const passed = [...before[key]!, ...after[key]!].filter((remaining) => remaining !== null)
      assert.equal(passed.length, 30)
    }
  })
})

/** A config of two workers with one limited route; the path is the key. */
function limited(limit: object, body = 'ok') {
  const local = [{ unit: 'Hours', ...limit, key: 'request.path' }]
  const policies = { rateLimit: { local }, directResponse: { status: 200, body } }
  return {
    config: { workers: 2, logging: { level: 'info,request=off' } },
    binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes: [{ name: 'limited', policies }] }] }],
  }
}

/** Sends so many requests for each key over many connections at once; tells what was left to each, null when refused. */
async function drive(port: number, requests: number): Promise<(number | null)[][]> {
  const told = Array.from({ length: KEYS }, (): (number | null)[] => [])
  let left = requests * KEYS
  const load = Array.from({ length: CONNECTIONS }, async () => {
    const client = new KeepAliveClient(port)
    while (left > 0) {
      const key = --left % KEYS
      const { status, headers } = await client.get(`/${key}`)
      assert.ok(status === 200 || status === 429, String(status))
      told[key]!.push(status === 200 ? Number(headers['x-ratelimit-remaining']) : null)
    }
    client.close()
  })
  await Promise.all(load)
  return told
}
