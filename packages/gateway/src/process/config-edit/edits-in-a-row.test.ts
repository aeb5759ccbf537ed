import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { ApplyOutcome } from '../../admin/config-edit-api.ts'
import { shownText } from '../shown-text.ts'
import { eventually } from '../../testing/process.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import { loadText } from '../config-source.ts'
import { TextInMemory } from '../held-text.ts'
import { KeptConfigs } from '../kept-configs.ts'
import { Reloader, type ReloadTarget } from '../reloader.ts'
import { ConfigEditor } from './config-editor.ts'

/** Edits that are made to edits that are still on their way. */

const ORIGINAL = 'binds: [] # one\n'
const named = (name: string): string => ORIGINAL.replace('one', name)

test('of two edits in a row that both cannot go live nothing is left', async (t) => {
  const { memory, apply, answer, state } = scene(t)
  const first = apply(named('two'))
  await eventually('the first is on its way', () => state.applying.length === 1)
  const second = apply(named('three'))
  await eventually('the second is in its place', () => memory.read() === named('three'))
  answer(['no'])
  assert.equal((await first).kind, 'refused')
  await eventually('the second is on its way', () => state.applying.length === 1)
  answer(['no either'])
  assert.equal((await second).kind, 'refused')
  assert.deepEqual([memory.read(), state.isNewest], [ORIGINAL, true])
})

test('of three edits the one that was overtaken is not left either', async (t) => {
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
  const { memory, apply, answer, state } = scene(t)
  const first = apply(named('two'))
  await eventually('the first is on its way', () => state.applying.length === 1)
  const second = apply(named('three'))
  await eventually('the second is in its place', () => memory.read() === named('three'))
  answer(['no'])
  assert.equal((await first).kind, 'refused')
  await eventually('the second is on its way', () => state.applying.length === 1)
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
    assert.match('reason' in outcome ? outcome.reason : '', /about to end, and the config in its memory/)
  }
})

/** An editor of a text in memory, whose configs go live when the test says so. */
function scene(t: TestContext) {
  const memory = new TextInMemory(ORIGINAL)
  const state = { isNewest: true, generation: 1, applying: [] as ((problems: string[]) => void)[] }
  const place = { file: '<memory>', dir: '.' }
  const reloader = new Reloader({
    ...{ name: 'memory', path: null, guide: null },
    load: (text = memory.read()) => loadText(text, place, null),
  })
  t.after(() => reloader.close())
  const silent = { error() {}, warn() {}, info() {} } as unknown as Logger
  const target: Pick<ReloadTarget, 'generation' | 'apply'> = {
    generation: 1,
    apply: () =>
      new Promise<string[]>((done) => {
        state.applying.push((problems) => {
          state.isNewest = problems.length === 0
          done(problems)
        })
      }),
  }
  reloader.start(target as ReloadTarget, silent)
  const editor = new ConfigEditor({
    ...{ name: '<memory>', path: '', workers: 1, text: memory, reloader, history: new KeptConfigs(), log: silent },
    gateway: {
      ir: null,
      generation: 1,
      served: (ir) => ir,
      get isNewest() {
        return state.isNewest
      },
      stillWanted() {
        state.isNewest = true
      },
    },
    connectionsOf: () => 0,
    open: () => Promise.resolve([]),
    noFile: () => null,
    closed: () => null,
  })
  return {
    ...{ memory, state, reloader },
    apply: (text: string): Promise<ApplyOutcome> => {
      assert.equal(shownText(text), text)
      return editor.apply({ text, basedOn: editor.versionOf(memory.read()) })
    },
    answer: (problems: string[]) => (state.applying.shift() ?? assert.fail('none is on its way'))(problems),
  }
}
