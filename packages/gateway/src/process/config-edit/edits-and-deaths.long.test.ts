import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import { useFleet } from '../../testing/workers/fleet.ts'
import { eventually } from '../../testing/process.ts'
import { takenPort } from '../../testing/scene.ts'
import { useEditedMemory } from './testing/edited-memory.ts'

/** Edits of a config in memory while workers are busy, die, and are born. */

const saying = (body: string, more = ''): string => `binds:
- port: 0
  address: 127.0.0.1
  listeners:
  - routes: [{ name: page, policies: { directResponse: { status: 200, body: ${body} } } }]
${more}`

test('an edit that comes while a worker dies is live in all that live on, and in the next one', async (t) => {
  const { fleet, memory, apply } = await useScene(t)
  for (let round = 1; round <= 3; round++) {
    const isBusy = once(fleet.channel, 'message')
    const name = `worker-${round - 1}`
    fleet.tell({ name, how: 'be busy', milliseconds: 300 })
    fleet.tell({ name, how: 'die' })
    await isBusy
    assert.equal((await apply(saying(`round${round}`))).kind, 'applied')
    assert.equal(memory.read(), saying(`round${round}`))
    await eventually('it died', () => fleet.restarts() === round)
    await eventually('all say so', () => fleet.serves(`round${round}`))
  }
})

test('an edit that cannot go live while a worker dies leaves the one before, in the next worker too', async (t) => {
  const { fleet, memory, apply } = await useScene(t)
  const port = await takenPort(t)
  const isBusy = once(fleet.channel, 'message')
  fleet.tell({ name: null, how: 'be busy', milliseconds: 300 })
  fleet.tell({ name: null, how: 'die' })
  await isBusy
  const more = `- port: ${port}\n  address: 127.0.0.1\n  listeners: [{ routes: [] }]\n`
  const outcome = await apply(saying('never', more))
  assert.equal(outcome.kind, 'refused')
  assert.equal(memory.read(), saying('first'))
  await eventually('both died', () => fleet.restarts() === 2)
  await eventually('served again', () => fleet.serves('first'))
  assert.deepEqual([fleet.gateway.generation, fleet.gateway.isNewest, fleet.gateway.problems], [1, true, []])
  assert.equal((await apply(saying('second'))).kind, 'applied')
  await eventually('all say so', () => fleet.serves('second'))
})

test('an edit that a worker never takes is told so once the gateway ends, and lives nowhere', async (t) => {
  const { fleet, reloader, apply } = await useScene(t)
  const isStuck = once(fleet.channel, 'message')
  fleet.tell({ name: 'worker-0', how: 'never answer' })
  await isStuck
  const edit = apply(saying('second'))
  await eventually('the log tells who is waited for', () =>
    /has not applied config 2 yet.*worker-0/.test(fleet.logged()),
  )
  reloader.close()
  await fleet.supervisor.stop()
  const outcome = await edit
  assert.equal(outcome.kind, 'closed')
  assert.match('reason' in outcome ? outcome.reason : '', /shutting down, and its config in memory is lost/)
})

async function useScene(t: TestContext) {
  const fleet = await useFleet(t, { workers: 2 })
  const edited = useEditedMemory(t, 'binds: []\n', fleet.gateway)
  assert.equal((await edited.apply(saying('first'))).kind, 'applied')
  /** On many connections, so that each worker has some. */
  const serves = async (body: string): Promise<boolean> => {
    const asked = Array.from({ length: 20 }, () =>
      request(fleet.port()).then(
        (answer) => answer.body,
        () => '',
      ),
    )
    return (await Promise.all(asked)).every((each) => each === body)
  }
  return { ...edited, fleet: { ...fleet, serves } }
}
