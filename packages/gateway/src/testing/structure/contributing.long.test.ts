import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { applyChange, readChanges } from './contributing.ts'

/** Does what CONTRIBUTING.md says, in a copy of the sources: then types hold, and what the examples promise is so. */

const root = join(import.meta.dirname, '../../../../..')
const run = promisify(execFile)

/** The time limit of tests that start compilers and test runners, for a loaded machine. */
const SLOW = { timeout: 600_000 }

describe('the worked examples of CONTRIBUTING.md', { timeout: 1_200_000 }, () => {
  const changes = readChanges(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8'))
  let copy = ''

  before(() => {
    copy = mkdtempSync(join(tmpdir(), 'portico-contributing-'))
    copySources(copy)
    for (const change of changes) {
      const file = join(copy, change.path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, applyChange(existsSync(file) ? readFileSync(file, 'utf8') : '', change))
    }
  })
  after(() => rmSync(copy, { recursive: true, force: true }))

  it('compile', SLOW, async () => {
    const own = { extends: './tsconfig.json', include: ['packages/gateway/src', 'packages/chat/src'] }
    writeFileSync(join(copy, 'tsconfig.gateway.json'), JSON.stringify(own))
    for (const project of ['tsconfig.gateway.json', 'packages/ui'])
      await node('node_modules/typescript/bin/tsc', '--noEmit', '--project', project)
  })

  it('pass lint and format', SLOW, async () => {
    const files = changes.map(({ path }) => path).filter((path) => SOURCE.test(path))
    await node('node_modules/oxlint/bin/oxlint', '--deny-warnings', ...new Set(files))
    const written = changes.filter(({ path, edit }) => edit === null && SOURCE.test(path))
    await node('node_modules/oxfmt/bin/oxfmt', '--check', ...written.map(({ path }) => path))
  })

  it('do what they say', SLOW, async () => {
    await node('packages/gateway/src/generate/main.ts')
    const written = changes.filter(({ edit }) => edit === null).map(({ path }) => path)
    const tests = written.filter((path) => path.endsWith('.test.ts'))
    assert.equal(tests.length, EXAMPLES_WITH_TESTS)
    await runTests([...tests, inGateway('imports.test.ts'), inGateway('generate/generated-files.test.ts')])
    const components = written.filter((path) => path.endsWith('.test.tsx'))
    assert.equal(components.length, 1)
    // The tests of the table must accept a new column without a change.
    await runTests([...components, 'packages/ui/src/requests/table.test.tsx'], '--import=./scripts/components.mjs')
  })

  it('have READMEs whose examples work', SLOW, async () => {
    const names = changes.flatMap(({ path }) =>
      basename(path) === 'README.md' ? [dirname(path.replace(inGateway(''), ''))] : [],
    )
    assert.notEqual(names.length, 0)
    await runTests(
      [inGateway('testing/docs/readme-examples.test.ts')],
      `--test-name-pattern=every policy|${names.join('|')}`,
    )
  })

  async function runTests(files: readonly string[], ...options: string[]): Promise<void> {
    await node('--test', ...options, ...files)
  }

  /** Rejects with all that was printed. */
  async function node(...args: string[]): Promise<void> {
    // The runner of this file would take a runner inside of it for its own.
    const { NODE_TEST_CONTEXT: _ours, ...env } = process.env
    await run(process.execPath, args, { cwd: copy, env, maxBuffer: 2 ** 26 }).catch((error: unknown) => {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
      assert.fail(`node ${args.join(' ')}\n${stdout}\n${stderr}`)
    })
  }
})

const inGateway = (path: string): string => `packages/gateway/src/${path}`
const SOURCE = /\.tsx?$/

/** Files `*.test.ts`: a transport is tested by its target, a format in its package and in the gateway. */
const EXAMPLES_WITH_TESTS = 7

/** Copies the files that the examples and their tests need, without installed packages. */
function copySources(copy: string): void {
  const skipped = new Set(['node_modules', 'dist'])
  for (const name of [
    'packages',
    'bench',
    'scripts',
    'site',
    'docs',
    'schema',
    'package.json',
    'tsconfig.json',
    '.oxlintrc.json',
    '.oxfmtrc.json',
  ]) {
    cpSync(join(root, name), join(copy, name), { recursive: true, filter: (path) => !skipped.has(basename(path)) })
  }
  for (const folder of ['packages/gateway', 'packages/ctl']) {
    const installed = join(root, folder, 'node_modules')
    if (existsSync(installed)) symlinkSync(installed, join(copy, folder, 'node_modules'))
  }
  linkInstalled(copy)
}

/** Links what is installed; packages of the tree lead to the copy, where the examples have changed them. */
function linkInstalled(copy: string): void {
  mkdirSync(join(copy, 'node_modules/@portico'), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '@portico') symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name))
  for (const name of readdirSync(join(root, 'node_modules/@portico')))
    symlinkSync(join(copy, 'packages', name), join(copy, 'node_modules/@portico', name))
}
