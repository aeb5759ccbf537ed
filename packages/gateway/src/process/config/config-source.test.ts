import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { configSource } from './config-source.ts'

const routes = (bodies: readonly string[]): string =>
  [
    'binds:',
    '- port: 0',
    '  listeners:',
    '  - routes:',
    ...bodies.flatMap((body, index) => [
      `    - name: r${index}`,
      `      policies:`,
      `        directResponse: { status: 200, body: ${body} }`,
    ]),
    '',
  ].join('\n')

test('the first reload of a file reads what has changed, as all others do', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-source-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'gateway.yaml')
  writeFileSync(file, routes(['a', 'b', 'c']))
  const source = await configSource(file)
  const first = await source.load()
  const second = await source.load(routes(['a', 'other', 'c']))
  assert.ok(first.ok && second.ok)
  const isSame = second.ir.routes.map((route, index) => route === first.ir.routes[index])
  assert.deepEqual(isSame, [true, false, true])
})
