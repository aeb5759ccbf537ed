import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { shutdown } from '../program/shutdown.ts'
import { loadConfig } from '../../sources/file.ts'
import { request } from '../../testing/client.ts'
import { type FleetOptions, newFleet, useFleet as startFleet } from '../../testing/workers/fleet.ts'
import { KeepAliveClient } from '../../testing/keep-alive-client.ts'
import { eventually } from '../../testing/process.ts'
import { useOrigin } from '../../testing/scene.ts'

/** Enough that each of three workers has some. */
const CONNECTIONS = 40

for (const isOneThread of [false, true]) {
  describe(isOneThread ? 'a worker in the main thread' : 'a worker in a thread of its own', () => {
    test('serves until it is drained, and then stops', async (t) => {
      const fleet = await useFleet(t, { workers: 1, isOneThread })
      const clients = useClients(t, fleet.port())
      assert.deepEqual(await bodies(clients), ['one'])
      assert.deepEqual(await fleet.gateway.apply(saying('two')), [])
      assert.deepEqual(await bodies(clients), ['two'])
      await eventually('counted', () => fleet.metric('portico_requests_total') === 2 * CONNECTIONS)
      assert.deepEqual(await fleet.supervisor.silentWorkers(5_000), [])
      assert.equal((await fleet.supervisor.open())[0]?.size, 0)
      await shutdown(fleet.supervisor, { minMs: 0, maxMs: 10_000 })
      assert.deepEqual([fleet.supervisor.size, fleet.supervisor.isListening], [0, false])
      await assert.rejects(request(fleet.port()))
    })

    test('rejects a config whose port it cannot open, and serves the one before', async (t) => {
      const fleet = await useFleet(t, { workers: 1, isOneThread })
      const { port } = await useOrigin(t)
      const error = await fleet.supervisor.apply({
        generation: 2,
        ir: saying('two', [{ port: 0 }, { port }]),
        change: null,
        ports: { 'bind/0': fleet.port(), [`bind/${port}`]: port },
        sessionKeys: [],
        tables: new Map(),
      })
      assert.match(error ?? '', /EADDRINUSE/)
      assert.equal((await request(fleet.port())).body, 'one')
      assert.deepEqual(await fleet.gateway.apply(saying('three')), [])
      assert.equal((await request(fleet.port())).body, 'three')
    })
  })
}

for (const workers of [1, 3]) {
  describe(`${workers} worker${workers === 1 ? '' : 's'}`, () => {
    test('serve, take a new config and end', async (t) => {
      const fleet = await useFleet(t, { workers })
      const clients = useClients(t, fleet.port())
      assert.deepEqual(await bodies(clients), ['one'])
      assert.deepEqual(await fleet.gateway.apply(saying('two')), [])
      assert.deepEqual(await bodies(clients), ['two'])
      await eventually('counted', () => fleet.metric('portico_requests_total') === 2 * CONNECTIONS)
      await shutdown(fleet.supervisor, { minMs: 0, maxMs: 10_000 })
      assert.equal(fleet.supervisor.size, 0)
      await assert.rejects(request(fleet.port()))
    })

    for (const how of ['die', 'fill the heap'] as const) {
      test(`lose one that is told to ${how}, and soon are as many again`, async (t) => {
        const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 }
        const fleet = await useFleet(t, { workers, resourceLimits })
        const clients = useClients(t, fleet.port())
        assert.deepEqual(await bodies(clients), ['one'])
        const startedAt = performance.now()
        fleet.tell({ name: 'worker-0', how })
        await eventually('counted', () => fleet.metric('portico_worker_restarts_total') === 1)
        const diedAt = performance.now()

        // On the connections that were there; whoever lost his is not to get another.
        const again = clients.map((client) => (client.isOpen ? client.get('/') : Promise.reject(new Error('lost'))))
        const kept = (await Promise.allSettled(again)).filter((result) => result.status === 'fulfilled')
        assert.equal(kept.length > 0, workers > 1)
        assert.ok(kept.length < CONNECTIONS)
        assert.ok(kept.every((result) => result.value.body === 'one'))
        const expected = CONNECTIONS + kept.length
        await eventually('counted', () => fleet.metric('portico_requests_total') === expected)

        await eventually('served again', () => fleet.serves('one'))
        await eventually('as many again', () => fleet.supervisor.size === workers)
        t.diagnostic(`died after ${(diedAt - startedAt) | 0} ms, replaced after ${(performance.now() - diedAt) | 0} ms`)
        assert.match(fleet.logged(), /worker died.*worker-0/)
        for (const client of clients) client.close()
        assert.deepEqual(await bodies(clients), ['one'])
      })
    }
  })
}

describe('a death under load', () => {
  test('costs connections of the dead worker alone, each once', async (t) => {
    const fleet = await useFleet(t, { workers: 2 })
    const over = new AbortController()
    t.after(() => over.abort())
    const clients = useClients(t, fleet.port())
    let answered = 0
    const failuresByClient = clients.map(() => 0)
    const load = clients.map(async (client, index) => {
      while (!over.signal.aborted) {
        await client.get('/').then(
          () => answered++,
          () => failuresByClient[index]!++,
        )
      }
    })
    await eventually('under load', () => answered > 1_000)
    fleet.tell({ name: 'worker-0', how: 'die' })
    await eventually('died', () => fleet.metric('portico_worker_restarts_total') === 1)
    const [answeredThen, failedThen] = [answered, sum(failuresByClient)]
    await eventually('under load again', () => answered > answeredThen + 2_000)
    over.abort()
    await Promise.all(load)
    const hit = failuresByClient.filter((failures) => failures > 0).length
    t.diagnostic(`${hit} of ${CONNECTIONS} clients lost a connection, ${sum(failuresByClient)} failures`)
    assert.ok(failedThen > 0 && hit < CONNECTIONS)
    // A client that comes back at the very moment may wait in the dead worker's queue: that costs it once more.
    assert.ok(failuresByClient.every((failures) => failures <= 2))
  })
})

describe('a config', () => {
  test('reaches workers that are born while it is applied', async (t) => {
    const fleet = await useFleet(t, { workers: 2 })
    for (let round = 0; round < 3; round++) {
      fleet.tell({ name: `worker-${round}`, how: 'die' })
      for (let at = 0; at < 5; at++) assert.deepEqual(await fleet.gateway.apply(saying(`${round}.${at}`)), [])
      await eventually('died', () => fleet.metric('portico_worker_restarts_total') === round + 1)
      for (let at = 5; at < 10; at++) assert.deepEqual(await fleet.gateway.apply(saying(`${round}.${at}`)), [])
    }
    await eventually('two again', () => fleet.supervisor.size === 2)
    // The newest worker may be the only one, and has not opened its port yet.
    await eventually('served again', () => fleet.serves('2.9'))
    const clients = useClients(t, fleet.port())
    await eventually('all new', async () => String(await bodies(clients)) === '2.9')
  })

  test('that one worker cannot take is taken back by all, also by those born later', async (t) => {
    const fleet = await useFleet(t, { workers: 2 })
    const { port } = await useOrigin(t)
    const next = saying('two', [{ port: 0 }, { port }])
    const ports = { 'bind/0': fleet.port(), [`bind/${port}`]: port }
    const error = await fleet.supervisor.apply({
      generation: 2,
      ir: next,
      change: null,
      ports,
      sessionKeys: [],
      tables: new Map(),
    })
    assert.match(error ?? '', /EADDRINUSE/)
    const clients = useClients(t, fleet.port())
    assert.deepEqual(await bodies(clients), ['one'])
    fleet.tell({ name: null, how: 'die' })
    await eventually('died', () => fleet.metric('portico_worker_restarts_total') === 2)
    await eventually('served again', () => fleet.serves('one'))
    assert.deepEqual(await fleet.gateway.apply(saying('three')), [])
    await eventually('all new', async () => (await request(fleet.port())).body === 'three')
  })
})

describe('the supervisor', () => {
  test('says why workers do not start', async (t) => {
    const { supervisor } = newFleet({ workers: 2, entry: new URL('./testing/nothing-here.ts', import.meta.url) })
    t.after(() => supervisor.stop())
    const problems = await supervisor.start()
    assert.match(problems?.join() ?? '', /workers do not start: .*nothing-here/)
  })

  test('tells when no worker listens any more, and when one does again', async (t) => {
    const fleet = await useFleet(t, { workers: 1 })
    const { supervisor } = fleet
    const seen: boolean[] = []
    supervisor.watchListening(() => seen.push(supervisor.isListening))
    fleet.tell({ name: null, how: 'die' })
    await eventually('it listens again', () => seen.includes(true))
    assert.deepEqual(seen, [false, true])
  })

  test('ends a worker that does not listen', async (t) => {
    const fleet = await useFleet(t, { workers: 2 })
    fleet.tell({ name: 'worker-1', how: 'never answer' })
    await fleet.told()
    await fleet.supervisor.stop()
    assert.equal(fleet.supervisor.size, 0)
  })
})

async function useFleet(t: TestContext, options: FleetOptions) {
  const fleet = await startFleet(t, options)
  assert.deepEqual(await fleet.gateway.apply(saying('one')), [])
  return {
    ...fleet,
    told: () => new Promise<void>((resolve) => (fleet.channel.onmessage = () => resolve())),
    serves: (words: string) =>
      request(fleet.port()).then(
        (response) => response.body === words,
        () => false,
      ),
    /** The sum over all series. */
    metric(name: string): number {
      const text = [...fleet.collector.render()].join('')
      return [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))].reduce(
        (sum, match) => sum + Number(match[1]),
        0,
      )
    },
  }
}

function useClients(t: TestContext, port: number): KeepAliveClient[] {
  const clients = Array.from({ length: CONNECTIONS }, () => new KeepAliveClient(port))
  t.after(() => {
    for (const client of clients) client.close()
  })
  return clients
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** The distinct bodies that these connections get. */
async function bodies(clients: KeepAliveClient[]): Promise<string[]> {
  const responses = await Promise.all(clients.map((client) => client.get('/')))
  return [...new Set(responses.map((response) => response.body))]
}

function saying(words: string, binds: { port: number }[] = [{ port: 0 }]) {
  const listeners = [{ routes: [{ policies: { directResponse: { status: 200, body: words } } }] }]
  const text = JSON.stringify({ binds: binds.map(({ port }) => ({ port, address: '127.0.0.1', listeners })) })
  const loaded = loadConfig(text, { file: 'test.yaml', dir: '.', env: {} })
  assert.ok(loaded.ok)
  return loaded.ir
}
