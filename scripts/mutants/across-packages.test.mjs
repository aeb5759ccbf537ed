import assert from 'node:assert/strict'
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { mutantsOf } from './changes.mjs'
import { CoveringTests, WIDER } from './covering-tests.mjs'
import { TreeCopy } from './tree-copy.mjs'
import { Workspace } from './workspace.mjs'

const repository = join(import.meta.dirname, '../..')

const manifest = (name, exports) => JSON.stringify({ name: `@portico/${name}`, type: 'module', exports })
const testOf = (specifier) => `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLarge } from '${specifier}'
test('a limit', () => assert.deepEqual([isLarge(9), isLarge(10)], [false, true]))
`

/** Writes a tree of two packages, of which `outer` imports `inner` by its name. */
function useTree(t) {
  const root = mkdtempSync(join(tmpdir(), 'portico-tree-'))
  t.after(() => rmSync(root, { recursive: true }))
  const files = {
    'packages/inner/package.json': manifest('inner', {
      '.': './src/index.ts',
      './size': './src/size.ts',
      './all/*': './src/*.ts',
    }),
    'packages/inner/src/index.ts': `export { isLarge } from './size.ts'\n`,
    'packages/inner/src/size.ts': 'export const isLarge = (size: number) => size >= 10\n',
    'packages/inner/src/shape.ts': 'export type Shape = { size: number }\n',
    'packages/outer/package.json': manifest('outer', {}),
    'packages/outer/src/outer.ts': `export { isLarge } from '@portico/inner'\n`,
    'packages/outer/src/entries.ts': `import type { Shape } from '@portico/inner/all/shape'
import 'installed'
import {
  isLarge,
} from '@portico/inner/size'
import './outer.ts'
export const later = () => import('@portico/inner/all/index')
export type { Shape }
export { isLarge }
`,
    'packages/outer/src/outer.test.ts': testOf('./outer.ts'),
    'packages/outer/src/other.test.ts': testOf('./other.ts'),
    'packages/outer/node_modules/nested/package.json': '{"type":"module","exports":"./nested.js"}',
    'packages/outer/node_modules/nested/nested.js': 'export {}\n',
    'node_modules/installed/package.json': '{"type":"module","exports":"./installed.js"}',
    'node_modules/installed/installed.js': 'export {}\n',
    'package.json': '{"type":"module"}',
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  mkdirSync(join(root, 'node_modules/@portico'))
  for (const name of ['inner', 'outer'])
    symlinkSync(join('../../packages', name), join(root, 'node_modules/@portico', name))
  symlinkSync(join(repository, 'node_modules/.bin'), join(root, 'node_modules/.bin'))
  for (const name of ['scripts/mutants/first-failure.mjs', 'scripts/compile-cache.mjs'])
    cpSync(join(repository, name), join(root, name))
  return root
}

test('imports lead to the files of other packages, by entry and by pattern, and types lead nowhere', (t) => {
  const workspace = new Workspace(useTree(t))
  assert.deepEqual(workspace.importsOf('packages/outer/src/entries.ts'), [
    'packages/inner/src/size.ts',
    'packages/outer/src/outer.ts',
    'packages/inner/src/index.ts',
  ])
  assert.deepEqual(workspace.importsOf('packages/inner/src/shape.ts'), [])
  assert.deepEqual(workspace.importsOf('packages/outer/src/missing.ts'), [])
})

test('a test covers the sources that it reaches through the name of a package', (t) => {
  const covering = new CoveringTests(useTree(t))
  assert.deepEqual(covering.of('packages/inner/src/size.ts'), ['packages/outer/src/outer.test.ts'])
})

test('a change to a package is noticed by the tests of another', async (t) => {
  const root = useTree(t)
  const [mutant] = mutantsOf(root, 'packages/inner/src/size.ts')
  const tree = await TreeCopy.of(root)
  t.after(() => tree.remove())
  const test = 'packages/outer/src/outer.test.ts'
  assert.equal(await tree.passes(test), true)
  assert.equal(await tree.with(mutant, () => tree.passes(test)), false)
  assert.equal(await tree.passes(test), true)
})

test('packages that are installed for one package alone are found in the copy', async (t) => {
  const root = useTree(t)
  writeFileSync(join(root, 'packages/outer/src/outer.test.ts'), `import 'nested'\nimport 'installed'\n`)
  const tree = await TreeCopy.of(root)
  t.after(() => tree.remove())
  assert.equal(await tree.passes('packages/outer/src/outer.test.ts'), true)
})

test('every folder with wider tests exists, and so do the tests', () => {
  const files = globSync('packages/*/src/**/*.ts', { cwd: repository })
  for (const { sources, tests } of WIDER)
    for (const pattern of [sources, ...tests])
      assert.ok(
        files.some((file) => pattern.test(file)),
        String(pattern),
      )
})
