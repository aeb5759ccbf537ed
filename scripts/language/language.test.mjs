import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { run } from './check.mjs'
import { finderFor, isParticiple } from './rules.mjs'

const findings = (path, ...lines) =>
  finderFor(path)(lines.join('\n')).map(({ line, text }) => `${line}: ${text.split(';')[0]}`)

test('a type may not be a participle alone', () => {
  for (const name of ['Shown', 'Found', 'Attached', 'Held']) assert.equal(isParticiple(name), true, name)
  for (const name of ['ShownRow', 'Feed', 'Address', 'Seed', 'Read']) assert.equal(isParticiple(name), false, name)
  const lines = ['export type Told = string', 'interface Attached {}', 'export class ToldText {}', 'const Told = 1']
  assert.deepEqual(findings('a.ts', ...lines), ['1: type Told is a participle', '2: type Attached is a participle'])
})

test('a comment begins with the thing that it describes', () => {
  const lines = [
    '/** What is kept. */',
    '// Header names. Of those the short ones.',
    '',
    '/**',
    ' * Where it stands.',
    ' */',
    '// What is kept?',
    'const text = "// What is kept"',
    '// The names',
    '// of the headers.',
  ]
  assert.deepEqual(findings('a.ts', ...lines), [
    '1: comment begins "What is kept."',
    '2: comment begins "Of those the short"',
    '4: comment begins "Where it stands."',
  ])
  assert.deepEqual(findings('a.yaml', 'a: 1', '# Who calls.', '# The caller.'), ['2: comment begins "Who calls."'])
})

test('a test title begins with its subject', () => {
  const lines = [
    "test('what is kept goes', () => {})",
    "  it('of two the first', fn)",
    "test('keeps what is there', fn)",
  ]
  assert.deepEqual(findings('a.test.ts', ...lines), [
    '1: title begins "what is kept goes"',
    '2: title begins "of two the first"',
  ])
})

test('the glossary has a better word', () => {
  assert.deepEqual(findings('a.ts', "throw new Error('the server of limits could not be asked')"), [
    '1: "server of limits": say rate limit service',
    '1: "could not be asked": say the name of the call that failed, such as "ext_authz call failed"',
  ])
})

test('docs use American spelling, code blocks are left alone', () => {
  const lines = ['The behaviour of `colour`.', '```', 'behaviour', '```', 'Unrecognised [names](neighbour.md).']
  assert.deepEqual(findings('a.md', ...lines), [
    '1: "behaviour" is not American spelling: behavior…',
    '5: "Unrecognised" is not American spelling: recognize…',
  ])
})

test('files without rules are not read', () => {
  assert.equal(finderFor('picture.png'), undefined)
})

test('findings fail the check, in files that are not committed too', (t) => {
  const repository = useRepository(t)
  repository.write('packages/a/plain.ts', '// One comment.\n')
  repository.commit('a: begin')
  assert.deepEqual(repository.run(), { code: 0, lines: [] })
  repository.write('packages/b/new.ts', '// What three.\n')
  assert.deepEqual(repository.run(), {
    code: 1,
    lines: ['packages/b/new.ts:1: comment begins "What three."', 'See "Language" in CONTRIBUTING.md.'],
  })
})

test('commit subjects have at most 72 characters from the commit that added the check', (t) => {
  const repository = useRepository(t)
  repository.commit('x'.repeat(73))
  repository.write('scripts/language/check.mjs', '')
  repository.commit('y'.repeat(73))
  repository.commit('z'.repeat(72))
  assert.equal(repository.run().code, 0)
  repository.commit('w'.repeat(73))
  const { code, lines } = repository.run()
  assert.deepEqual([code, lines[0]], [1, `commit subject over 72 characters: ${'w'.repeat(73)}`])
})

function useRepository(t) {
  const root = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(root, { recursive: true }))
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: root, stdio: 'pipe' })
  git('init', '-q')
  return {
    write(path, text) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    },
    commit(subject) {
      git('add', '-A')
      git('commit', '-q', '--allow-empty', '-m', subject)
    },
    run: () => run(root),
  }
}
