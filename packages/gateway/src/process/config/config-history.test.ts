import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { GenerationHistory } from './config-history.ts'

const configOf = (name: string, comment = ''): string =>
  `${comment}binds: [{ port: 80, listeners: [{ routes: [{ name: ${name} }] }] }]\n`

test('a config is found again with its places', () => {
  const kept = new GenerationHistory()
  kept.keep(1, { text: configOf('one'), file: 'gateway.yaml', dir: '.' })
  kept.keep(2, { text: configOf('two', '# second\n'), file: 'gateway.yaml', dir: '.' })
  for (const [generation, name, line] of [
    [1, 'one', 1],
    [2, 'two', 2],
  ] as const) {
    const found = kept.find(generation)
    const route = found?.ir.routes[0]
    assert.equal(route?.name, name)
    const place = route === undefined ? null : found?.locate(route, ['name'])
    assert.deepEqual([place?.file, place?.line], ['gateway.yaml', line])
  }
  assert.equal(kept.find(3), null)
})

test('the newest are kept, as many as fit', () => {
  const kept = new GenerationHistory()
  const large = `#${'x'.repeat(400_000)}\n`
  for (let i = 1; i <= 4; i++) kept.keep(i, { text: configOf(`n${i}`, large), file: 'a', dir: '.' })
  assert.deepEqual(
    [1, 2, 3, 4].map((generation) => kept.find(generation)?.ir.routes[0]?.name ?? null),
    [null, null, 'n3', 'n4'],
  )
})

test('one that is too large to be kept is read from its file again, unless that has changed', (t) => {
  const file = join(tmpdir(), `portico-kept-${process.pid}.yaml`)
  t.after(() => rmSync(file))
  const text = configOf('large', `#${'x'.repeat(1_100_000)}\n`)
  writeFileSync(file, text)
  const kept = new GenerationHistory()
  kept.keep(1, { text, file, dir: '.' })
  assert.equal(kept.find(1)?.ir.routes[0]?.name, 'large')
  const other = new GenerationHistory()
  other.keep(1, { text, file, dir: '.' })
  writeFileSync(file, configOf('other'))
  assert.equal(other.find(1), null)
})
