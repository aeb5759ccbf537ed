import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import type { TraceEvent } from '../../telemetry/trace/trace-event.ts'
import { request } from '../../testing/client.ts'
import { useFleet } from '../../testing/workers/fleet.ts'
import { eventually } from '../../testing/process.ts'
import { routeTo, useOrigin } from '../../testing/scene.ts'

test('a worker that dies in the middle of a request ends its stream', async (t) => {
  const fleet = await useWatchedFleet(t)
  const watched = fleet.watch()
  await watched.ready
  const arrived = once(fleet.origin.server, 'request')
  const lost = request(fleet.port())
  lost.catch(() => {})
  await arrived
  await eventually('traced', () => watched.events.length > 0)
  fleet.kill()
  await watched.ended
  const last = watched.events.at(-1)!
  assert.equal(last.severity, 'error')
  assert.deepEqual(last.message, { type: 'requestFinished', status: null, error: 'worker died' })
  assert.equal(last.eventEnd, watched.events.at(-2)!.eventEnd)
  assert.equal(watched.events.filter(({ message }) => message.type === 'requestFinished').length, 1)
})

test('watchers outlive workers: those that are born later know them', async (t) => {
  const fleet = await useWatchedFleet(t)
  const watched = fleet.watch()
  await watched.ready
  fleet.kill()
  await eventually('died', () => fleet.restarts() === 2)
  const second = fleet.watch()
  await second.ready
  // A port that no worker has yet refuses.
  await eventually('traced', () => {
    request(fleet.port()).catch(() => {})
    return watched.events.length > 0
  })
})

async function useWatchedFleet(t: TestContext) {
  const origin = await useOrigin(t, () => {})
  const fleet = await useFleet(t, { workers: 2 })
  await fleet.apply({ binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes: [routeTo(origin)] }] }] })
  return {
    ...fleet,
    origin,
    kill: () => fleet.tell({ name: null, how: 'die' }),
    watch() {
      const events: TraceEvent[] = []
      const [ready, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      fleet.supervisor.traces.watch(null, {
        ready: ready.resolve,
        event: (event) => events.push(event),
        end: ended.resolve,
      })
      return { events, ready: ready.promise, ended: ended.promise }
    },
  }
}
