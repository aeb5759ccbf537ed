import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { applyChange, changeBetween } from '../ir/change.ts'
import type { Ir } from '../ir/resources.ts'
import { compile, type CompiledConfig } from './index.ts'
import { loadConfig } from '../sources/file.ts'
import { checkServices } from './check.ts'
import '../testing/all-features.ts'

const { services, close } = checkServices()

interface Generation {
  ir: Ir
  config: CompiledConfig
}

test('a generation that was replaced can be forgotten', async (t) => {
  t.after(close)
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let current: Generation | null = null
  const replaced: WeakRef<object>[] = []
  for (let generation = 0; generation < 4; generation++) {
    if (current !== null) replaced.push(new WeakRef(current.config.binds.get('bind/8080')!))
    current = next(current, generation)
  }
  await new Promise((resolve) => setImmediate(resolve))
  collect()
  assert.deepEqual(
    replaced.map((reference) => reference.deref()),
    [undefined, undefined, undefined],
  )
  assert.equal(current!.config.binds.size, 1)
})

test('a route that is not affected is the same object in the next generation, met before or not', () => {
  for (const isMet of [true, false]) {
    const first = next(null, 1)
    if (isMet) for (const [, route] of first.config.routes.byKey.entries()) route.make()
    const second = next(first, 2)
    const routes = [...second.config.routes.byKey.entries()]
    const kept = routes.flatMap(([key, route]) => (route === first.config.routes.byKey.get(key) ? [route.name] : []))
    assert.deepEqual(kept, ['stays'])
    assert.equal(routes.length, 2)
  }
})

test('a route that is met late is the one of its own generation, whether a later one went live or not', () => {
  const first = next(null, 1)
  const second = next(first, 2)
  const third = next(second, 3)
  const bodyOf = ({ config }: Generation, name: string): unknown => {
    const route = [...config.routes.byKey.entries()].find(([, each]) => each.name === name)?.[1]
    return (route?.make().effectivePolicy['directResponse'] as { body?: string } | undefined)?.body
  }
  assert.deepEqual(
    [first, second, third].map((generation) => bodyOf(generation, 'differs')),
    ['1', '2', '3'],
  )
  assert.equal(bodyOf(third, 'stays'), 'same')
})

/** One route that stays and one that differs in each generation. */
function next(previous: Generation | null, number: number): Generation {
  const route = (name: string, body: string) => ({
    name,
    matches: [{ path: { exact: `/${name}` } }],
    policies: { directResponse: { status: 200, body } },
  })
  const listeners = [{ protocol: 'HTTP', routes: [route('stays', 'same'), route('differs', `${number}`)] }]
  const loaded = loadConfig(JSON.stringify({ binds: [{ port: 8080, listeners }] }), {
    file: 'test',
    dir: '.',
    env: {},
  })
  assert.ok(loaded.ok)
  if (previous === null) return { ir: loaded.ir, config: compile(loaded.ir, services, null) }
  const changed = applyChange(previous.ir, changeBetween(previous.ir, loaded.ir)!)
  return { ir: changed.ir, config: compile(changed.ir, services, { config: previous.config, changed }) }
}
