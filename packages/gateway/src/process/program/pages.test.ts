import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { until } from '../../testing/scene.ts'
import { Pages, pagesBeside } from './pages.ts'

test('a package has its pages beside the program', (t) => {
  const folder = useFolder(t)
  mkdirSync(join(folder, 'dist/ui/assets'), { recursive: true })
  writeFileSync(join(folder, 'dist/ui/index.html'), '<p>')
  writeFileSync(join(folder, 'dist/ui/assets/a-1234.js'), 'run()')
  const program = pathToFileURL(join(folder, 'dist/program/serve.js')).href
  const state = pagesBeside(program).open()
  assert.ok(state.kind === 'ready')
  assert.deepEqual(state.files.asset('assets/a-1234.js', false)?.body, Buffer.from('run()'))
  rmSync(join(folder, 'dist/ui'), { recursive: true })
  assert.equal(pagesBeside(program).open().kind, 'missing')
})

test('only a checkout has a builder: a file of that name in the folder of an installed package is none', (t) => {
  const folder = useFolder(t)
  mkdirSync(join(folder, 'scripts'))
  writeFileSync(join(folder, 'scripts/fresh-ui.mjs'), '')
  const at = (path: string) => pagesBeside(pathToFileURL(join(folder, path)).href)
  assert.equal(at('node_modules/@portico/gateway/dist/program/serve.js').open().kind, 'missing')
  for (const path of [
    'node_modules/.cache/portico/gateway-1/program/serve.js',
    'packages/gateway/src/process/cli/serve.ts',
  ]) {
    const pages = at(path)
    t.after(() => pages.close())
    assert.equal(pages.open().kind, 'building', path)
  }
})

test('pages are built once they are opened, once', async (t) => {
  const folder = useFolder(t)
  writeFileSync(join(folder, 'index.html'), '<p>')
  const counted = join(folder, 'count')
  const pages = usePages(
    t,
    folder,
    `require('fs').appendFileSync(${JSON.stringify(counted)}, 'x'); process.stdout.write(${JSON.stringify(folder)})`,
  )
  assert.equal(pages.open().kind, 'building')
  await until(() => pages.open().kind === 'ready')
  assert.equal(readFileSync(counted, 'utf8'), 'x')
})

test('a build that fails says why, and is not tried again unasked', async (t) => {
  const folder = useFolder(t)
  const pages = usePages(t, folder, `console.error('vite is missing'); process.exit(1)`)
  pages.open()
  await until(() => pages.open().kind === 'failed')
  assert.deepEqual(pages.open(), { kind: 'failed', why: 'vite is missing' })
  pages.again()
  assert.equal(pages.open().kind, 'building')
  await until(() => pages.open().kind === 'failed')
})

function usePages(t: TestContext, folder: string, script: string): Pages {
  const builder = join(folder, 'build.cjs')
  writeFileSync(builder, script)
  const pages = new Pages(builder, null)
  t.after(() => pages.close())
  return pages
}

function useFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-pages-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}
