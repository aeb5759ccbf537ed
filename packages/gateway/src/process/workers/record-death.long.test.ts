import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import { useFleet } from '../../testing/workers/fleet.ts'
import { eventually } from '../../testing/process.ts'
import { routeTo, useOrigin } from '../../testing/scene.ts'

test('records of a worker outlive its death, and only its open requests are lost', async (t) => {
  assert.deepEqual(await recordedOver(t, ['die', 'die']), ['/after-1', '/after-0', '/before'])
})

test('a worker that is replaced after an exception records what it was doing', async (t) => {
  const expected = ['/after-1', '/never', '/after-0', '/never', '/before']
  assert.deepEqual(await recordedOver(t, ['throw', 'reject']), expected)
})

/** Paths of the records, newest first, after a request before, one cut by and one after each end of a worker. */
async function recordedOver(t: TestContext, ends: readonly ('die' | 'throw' | 'reject')[]): Promise<(string | null)[]> {
  const origin = await useOrigin(t, (seen, response) => {
    if (seen.url !== '/never') response.end()
  })
  const fleet = await useFleet(t, { workers: 1 })
  await fleet.apply({ binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes: [routeTo(origin)] }] }] })
  const paths = (): (string | null)[] => fleet.supervisor.records.all().map((stored) => stored.decode()?.path ?? null)
  await request(fleet.port(), { path: '/before' })
  await eventually('recorded', () => paths().length === 1)
  for (const [round, how] of ends.entries()) {
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
  return paths()
}
