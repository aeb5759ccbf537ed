import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { ApplyOutcome } from '../../admin/config-edit-api.ts'
import type { Ir } from '../../ir/resources.ts'
import { eventually } from '../../testing/process.ts'
import type { Gateway } from '../config/gateway.ts'
import { useEditedMemory } from './testing/edited-memory.ts'

/** Edits that are made to edits that are still on their way. */

const ORIGINAL = 'binds: [] # one\n'
const named = (name: string): string => ORIGINAL.replace('one', name)

test('two edits in a row that cannot go live leave nothing behind', async (t) => {
  const { memory, answer, state, second } = await afterOneThatCannot(t)
  answer(['no either'])
  assert.equal((await second).kind, 'refused')
  assert.deepEqual([memory.read(), state.isNewest], [ORIGINAL, true])
})

test('an edit that a later one has overtaken is not left behind either', async (t) => {
  const { memory, apply, answer, state } = scene(t)
  const edits = ['two', 'three', 'four'].map(named)
  const outcomes: Promise<ApplyOutcome>[] = []
  for (const text of edits) {
    outcomes.push(apply(text))
    await eventually('it is in its place', () => memory.read() === text)
    await eventually('one is on its way', () => state.applying.length === 1)
  }
  assert.equal((await outcomes[1])?.kind, 'changed', 'a newer one took its turn')
  answer(['no'])
  await eventually('the last is on its way', () => state.applying.length === 1)
  answer(['no either'])
  assert.deepEqual([(await outcomes[0])?.kind, (await outcomes[2])?.kind], ['refused', 'refused'])
  assert.equal(memory.read(), ORIGINAL)
})

test('an edit that goes live stays, whatever became of the one that it was made to', async (t) => {
  const { memory, apply, answer, state, second } = await afterOneThatCannot(t)
  answer([])
  assert.equal((await second).kind, 'applied')
  assert.equal(memory.read(), named('three'))
  const third = apply(named('two'))
  await eventually('the third is on its way', () => state.applying.length === 1)
  answer(['no'])
  assert.equal((await third).kind, 'refused')
  assert.equal(memory.read(), named('three'))
})

test('an edit that is on its way when the process is about to end is told so', async (t) => {
  const { apply, answer, state, reloader } = scene(t)
  const running = apply(named('two'))
  await eventually('it is on its way', () => state.applying.length === 1)
  reloader.close()
  // Workers that end have refused nothing.
  answer([])
  const outcomes = [await running, await apply(named('three'))]
  for (const outcome of outcomes) {
    assert.equal(outcome.kind, 'closed')
    assert.match('reason' in outcome ? outcome.reason : '', /shutting down, and its config in memory/)
  }
})

/** A second edit is on its way, made to a first one that could not go live. */
async function afterOneThatCannot(t: TestContext) {
  const edited = scene(t)
  const { memory, apply, answer, state } = edited
  const first = apply(named('two'))
  await eventually('the first is on its way', () => state.applying.length === 1)
  const second = apply(named('three'))
  await eventually('the second is in its place', () => memory.read() === named('three'))
  answer(['no'])
  assert.equal((await first).kind, 'refused')
  await eventually('the second is on its way', () => state.applying.length === 1)
  return { ...edited, second }
}

/** An editor of a text in memory, whose configs go live when the test says so. */
function scene(t: TestContext) {
  const state = { isNewest: true, generation: 1, applying: [] as ((problems: string[]) => void)[] }
  const gateway = {
    ...{ ir: null, generation: 1, served: (ir: Ir) => ir, refused: (problems: string[]) => problems },
    get isNewest() {
      return state.isNewest
    },
    stillWanted() {
      state.isNewest = true
    },
    apply: () =>
      new Promise<string[]>((done) => {
        state.applying.push((problems) => {
          state.isNewest = problems.length === 0
          done(problems)
        })
      }),
  }
  const edited = useEditedMemory(t, ORIGINAL, gateway as unknown as Gateway)
  const answer = (problems: string[]): void => (state.applying.shift() ?? assert.fail('none is on its way'))(problems)
  return { ...edited, state, answer }
}
