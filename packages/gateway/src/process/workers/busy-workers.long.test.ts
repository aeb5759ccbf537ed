import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { useFleet } from '../../testing/workers/fleet.ts'
import { eventually } from '../../testing/process.ts'
import { routeTo, useOrigin } from '../../testing/scene.ts'

/** Counts of open requests while workers cannot answer: the count waits a while, and names the missing workers. */

const CONNECTIONS = 16

test('a worker that is busy is missing in the count, the others are in it, and later it counts again', async (t) => {
  const fleet = await useStreams(t, 2)
  assert.deepEqual(await fleet.counted(), { open: CONNECTIONS, unheard: 0 })
  const each = await fleet.each()
  const isBusy = once(fleet.channel, 'message')
  fleet.tell({ name: 'worker-0', how: 'be busy', milliseconds: 4_000 })
  await isBusy
  const before = performance.now()
  assert.deepEqual(await fleet.counted(), { open: each[1] ?? 0, unheard: 1 })
  // The answer came while it was busy.
  const again = fleet.counted()
  t.diagnostic(`answered after ${Math.round(performance.now() - before)} ms`)
  assert.deepEqual(await again, { open: each[1] ?? 0, unheard: 1 })
  await eventually('it counts again', async () => (await fleet.counted()).unheard === 0)
  assert.deepEqual(await fleet.counted(), { open: CONNECTIONS, unheard: 0 })
})

test('a worker that dies while it is asked is missing, and one that is born has none open', async (t) => {
  const fleet = await useStreams(t, 2)
  const each = await fleet.each()
  const isBusy = once(fleet.channel, 'message')
  fleet.tell({ name: 'worker-0', how: 'be busy', milliseconds: 300 })
  fleet.tell({ name: 'worker-0', how: 'die' })
  await isBusy
  const asked = fleet.supervisor.open()
  assert.deepEqual(await sum(asked), { open: each[1] ?? 0, unheard: 1 })
  await eventually('it died', () => fleet.restarts() === 1)
  await eventually('two again', () => fleet.supervisor.size === 2)
  // One that is still loading its code may take longer than anybody waits.
  await eventually('all are heard', async () => (await fleet.counted()).unheard === 0)
  assert.deepEqual(await fleet.counted(), { open: each[1] ?? 0, unheard: 0 })
})

test('with all workers busy the count is empty, and says that nobody was heard', async (t) => {
  const fleet = await useStreams(t, 1)
  const isBusy = once(fleet.channel, 'message')
  fleet.tell({ name: null, how: 'be busy', milliseconds: 3_000 })
  await isBusy
  assert.deepEqual(await fleet.counted(), { open: 0, unheard: 1 })
  await eventually('it is heard again', async () => (await fleet.counted()).unheard === 0)
  assert.equal((await fleet.counted()).open, CONNECTIONS)
})

test('a config that comes while a worker is busy is live once it is not, and the log says who is waited for', async (t) => {
  const fleet = await useStreams(t, 2)
  const isBusy = once(fleet.channel, 'message')
  fleet.tell({ name: 'worker-1', how: 'be busy', milliseconds: 4_000 })
  await isBusy
  await fleet.apply({
    binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes: [fleet.route] }] }],
    backends: [],
  })
  assert.equal(fleet.gateway.generation, 2)
  assert.match(fleet.logged(), /has not applied config 2 yet.*worker-1/)
  assert.doesNotMatch(fleet.logged(), /worker-0/)
  assert.equal((await fleet.counted()).open, CONNECTIONS, 'no stream was lost')
})

async function sum(asked: Promise<(ReadonlyMap<string, number> | null)[]>) {
  const counts = await asked
  const heard = counts.filter((count) => count !== null)
  const open = heard.flatMap((count) => [...count.values()]).reduce((one, other) => one + other, 0)
  return { open, unheard: counts.length - heard.length }
}

/** Workers with streams that do not end. */
async function useStreams(t: TestContext, workers: number) {
  const streams: ServerResponse[] = []
  const origin = await useOrigin(t, (_, response) => {
    streams.push(response)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: one\n\n')
  })
  const fleet = await useFleet(t, { workers })
  const route = routeTo(origin)
  await fleet.apply({ binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes: [route] }] }] })
  const sockets = Array.from({ length: CONNECTIONS }, () => connect(fleet.port(), '127.0.0.1'))
  t.after(() => sockets.forEach((socket) => socket.destroy()))
  await Promise.all(
    sockets.map((socket) => {
      socket.on('error', () => {}).write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
      return once(socket, 'data')
    }),
  )
  const counted = (): ReturnType<typeof sum> => sum(fleet.supervisor.open())
  await eventually('all are under way', async () => (await counted()).open === CONNECTIONS)
  return {
    ...fleet,
    route,
    counted,
    each: async () => (await fleet.supervisor.open()).map((count) => [...(count?.values() ?? [])][0] ?? 0),
  }
}
