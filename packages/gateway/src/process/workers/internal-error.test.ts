import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { request } from '../../testing/client.ts'
import { useFleet } from '../../testing/workers/fleet.ts'
import { DEADLY } from '../../testing/workers/mortal-worker-config.ts'
import { eventually } from '../../testing/process.ts'

const hello = {
  binds: [
    {
      port: 0,
      address: '127.0.0.1',
      listeners: [{ routes: [{ policies: { directResponse: { status: 200, body: 'hi' } } }] }],
    },
  ],
}

for (const [workers, how] of [
  [1, 'throw'],
  [2, 'reject'],
] as const) {
  describe(`${workers} worker${workers === 1 ? '' : 's'}, one told to ${how}`, () => {
    test('answer every request that they accepted while the worker is replaced', async (t) => {
      const fleet = await useFleet(t, { workers })
      await fleet.apply(hello)
      const over = new AbortController()
      const statuses = new Map<number | string, number>()
      let resets = 0
      // A connection that waits in the queue of a port is reset by the system when the worker closes the port: no byte of an
      // answer has come, and another connection finds a worker.
      const send = (): Promise<{ status: number }> =>
        request(fleet.port()).catch((error: unknown) => {
          if (!isReset(error)) throw error
          resets++
          return request(fleet.port())
        })
      const load = Array.from({ length: CLIENTS }, async () => {
        while (!over.signal.aborted) {
          const told = await send().then(
            ({ status }) => status,
            (error: unknown) => String(error),
          )
          statuses.set(told, (statuses.get(told) ?? 0) + 1)
        }
      })
      await eventually('under load', () => (statuses.get(200) ?? 0) > 50)
      fleet.tell({ name: 'worker-0', how })
      await eventually('replaced', () => fleet.restarts() === 1)
      await eventually(
        'the old worker has ended',
        () => fleet.supervisor.retiring === 0 && fleet.supervisor.size === workers,
      )
      const before = statuses.get(200) ?? 0
      await eventually('under load again', () => (statuses.get(200) ?? 0) > before + 50)
      over.abort()
      await Promise.all(load)
      assert.deepEqual([...statuses.keys()], [200])
      assert.ok(resets <= CLIENTS, `${resets} connections were reset`)
      assert.equal(fleet.supervisor.size, workers)
      assert.ok(fleet.supervisor.isListening)
      const text = [...fleet.collector.render()].join('')
      assert.match(text, /^portico_internal_errors_total\{scope="worker"\} 1$/m)
      assert.match(fleet.logged(), /worker had an internal error, starting a replacement.*worker-0/)
    })
  })
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET'
}

const CLIENTS = 4

describe('workers that die', () => {
  test('leave the gateway not ready until one listens again', async (t) => {
    const fleet = await useFleet(t, { workers: 1 })
    assert.equal(fleet.supervisor.isListening, false)
    await fleet.apply(hello)
    assert.equal(fleet.supervisor.isListening, true)
    fleet.tell({ name: null, how: 'die' })
    await eventually('not listening', () => !fleet.supervisor.isListening)
    await eventually('listening again', () => fleet.supervisor.isListening)
    assert.equal((await request(fleet.port())).status, 200)
  })

  test('over a config make it a refused one', async (t) => {
    const fleet = await useFleet(t, { workers: 1 })
    await fleet.apply(hello)
    const [{ listeners, ...bind }] = hello.binds as [(typeof hello.binds)[number]]
    const [{ routes }] = listeners as [(typeof listeners)[number]]
    const deadly = routes.map((route) => ({ name: DEADLY, ...route }))
    const problems = await fleet.gateway.apply(fleet.load({ binds: [{ ...bind, listeners: [{ routes: deadly }] }] }))
    assert.match(problems.join(), /no worker serves config 2: worker died/)
    assert.equal(fleet.gateway.generation, 1)
    await eventually('listening again', () => fleet.supervisor.isListening)
  })

  test('are not waited for when they hang: a liveness probe names them', async (t) => {
    const fleet = await useFleet(t, { workers: 2 })
    await fleet.apply(hello)
    assert.deepEqual(await fleet.supervisor.silentWorkers(5_000), [])
    const busy = new Promise<void>((resolve) => (fleet.channel.onmessage = () => resolve()))
    fleet.tell({ name: 'worker-1', how: 'never answer' })
    await busy
    assert.deepEqual(await fleet.supervisor.silentWorkers(100), ['worker-1'])
  })
})
