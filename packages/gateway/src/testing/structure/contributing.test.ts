import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { applyChange, readChanges } from './contributing.ts'

/** Quick: whether the page fits the sources. `contributing.long.test.ts` runs what it says. */

const root = join(import.meta.dirname, '../../../../..')
const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')

test('every edit of the worked examples finds its line, and new files are new', () => {
  const contents = new Map<string, string>()
  for (const change of readChanges(page)) {
    const file = join(root, change.path)
    if (change.edit === null) assert.ok(!existsSync(file) && !contents.has(file), `${change.path} is there`)
    const source = contents.get(file) ?? (change.edit === null ? '' : readFileSync(file, 'utf8'))
    contents.set(file, applyChange(source, change))
  }
})

test('every import of the worked examples exists', () => {
  const changes = readChanges(page)
  const written = new Map(changes.filter(({ edit }) => edit === null).map(({ path, text }) => [path, text]))
  const missing: string[] = []
  for (const { path, text, line } of changes) {
    for (const [, names = '', from = ''] of text.matchAll(/^import (?:type )?\{ (.+) \} from '(\..+)'$/gm)) {
      const file = join(dirname(path), from)
      const source = written.get(file) ?? (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '')
      for (const name of names.split(', ').map((each) => each.replace(/^type | as .*$/g, ''))) {
        if (!new RegExp(`^export .*\\b${name}\\b`, 'm').test(source)) missing.push(`${line}: ${name} of ${from}`)
      }
    }
  }
  assert.deepEqual(missing, [])
})

test('the table names each example and every file that it changes', () => {
  const changes = readChanges(page)
  const rows = [...page.matchAll(/^\| \[an? .+\]\(#([\w-]+)\) \| (.*?) \|(.*)\|$/gm)]
  assert.equal(rows.length, 8)
  for (const [, anchor = '', , elsewhere = ''] of rows) {
    const ours = changes.filter(({ example }) => example.toLowerCase().replaceAll(' ', '-') === anchor)
    assert.notEqual(ours.length, 0, anchor)
    const own = new Set(ours.filter(({ edit }) => edit === null).map(({ path }) => dirname(path)))
    for (const { path, edit } of ours) {
      // A provider, of another example, takes a new format where it can.
      if (edit === null || own.has(dirname(path)) || path.includes('/llm/providers/llamacpp/')) continue
      const named = path.replace('packages/gateway/src/', '')
      assert.ok(elsewhere.includes(named) || elsewhere.includes(path.split('/').at(-1) ?? ''), `${anchor}: ${path}`)
    }
  }
})

test('an edit is indented like its line; what stands twice, or nowhere, is refused', () => {
  const change = { example: 'e', path: 'a.ts', line: 1, text: "import { b } from './b.ts'\n\nb,\n" }
  const after = (line: string) =>
    applyChange('const all = [\n  a,\n  c,\n  c,\n]', { ...change, edit: { how: 'after', line } })
  assert.equal(after('a,'), "import { b } from './b.ts'\nconst all = [\n  a,\n  b,\n  c,\n  c,\n]")
  assert.equal(after('const all …').split('\n')[2], '  b,')
  assert.throws(() => after('c,'), /stands 2 times/)
  assert.throws(() => after('d,'), /stands 0 times/)
  assert.equal(applyChange('  a,\n', { ...change, text: 'b,\n', edit: { how: 'in place of', line: 'a,' } }), '  b,\n')
  assert.throws(() => readChanges('Some text\n\n```ts\na\n```\n'), /nothing says where/)
})
