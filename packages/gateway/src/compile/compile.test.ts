import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { compile, type CompiledConfig, type CompileServices } from './index.ts'
import { loadConfig } from '../sources/file.ts'
import { checkServices } from './check.ts'

const { services, close } = checkServices()

test('a generation that was replaced can be forgotten', async (t) => {
  t.after(close)
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let current: CompiledConfig | null = null
  const replaced: WeakRef<object>[] = []
  for (let generation = 0; generation < 4; generation++) {
    if (current !== null) replaced.push(new WeakRef(current.binds.get('bind/8080')!))
    current = generationOf(generation, services, current)
  }
  await new Promise((resolve) => setImmediate(resolve))
  collect()
  assert.deepEqual(
    replaced.map((reference) => reference.deref()),
    [undefined, undefined, undefined],
  )
  assert.equal(current!.binds.size, 1)
})

test('a route that was met and has not changed is the same object in the next generation', () => {
  const first = generationOf(1, services, null)
  for (const route of first.routesByContent.values()) route.make()
  const [kept] = first.routesByContent.values()
  const second = generationOf(2, services, first)
  assert.ok([...second.routesByContent.values()].includes(kept!))
  assert.equal(second.routesByContent.size, 2)
})

/** One route that stays and one that differs in each generation. */
function generationOf(number: number, use: CompileServices, previous: CompiledConfig | null): CompiledConfig {
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
  return compile(loaded.ir, use, previous)
}
