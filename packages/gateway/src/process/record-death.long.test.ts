import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../testing/client.ts'
import { useFleet } from '../testing/fleet.ts'
import { eventually } from '../testing/process.ts'
import { routeTo, useOrigin } from '../testing/scene.ts'

test('what a worker had recorded outlives it, however it dies, and what it was doing is lost alone', async (t) => {
  const origin = await useOrigin(t, (seen, response) => {
    if (seen.url !== '/never') response.end()
  })
  const fleet = await useFleet(t, { workers: 1 })
  await fleet.apply({ binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes: [routeTo(origin)] }] }] })
  const paths = (): (string | null)[] => fleet.supervisor.records.all().map((stored) => stored.decode()?.path ?? null)
  await request(fleet.port(), { path: '/before' })
  await eventually('recorded', () => paths().length === 1)
  for (const [round, how] of (['throw', 'reject'] as const).entries()) {
    const lost = request(fleet.port(), { path: '/never' })
    await eventually('under way', () => origin.seen.filter(({ url }) => url === '/never').length === round + 1)
    fleet.tell({ name: null, how })
    assert.equal((await lost).status, Number.NaN, 'a status')
    await eventually('replaced', () => fleet.restarts() === round + 1)
    // A port that no worker has yet refuses.
    await eventually('served again', () =>
      request(fleet.port(), { path: `/after-${round}` }).then(
        ({ status }) => status === 200,
        () => false,
      ),
    )
    await eventually('recorded', () => paths().includes(`/after-${round}`))
  }
  assert.deepEqual(paths(), ['/after-1', '/after-0', '/before'])
})
