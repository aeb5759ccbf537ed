import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { mutantsOf } from './changes.mjs'

/** Returns what is changed in a source text. */
function changesOf(text) {
  const root = mkdtempSync(join(tmpdir(), 'portico-changes-'))
  try {
    writeFileSync(join(root, 'a.ts'), text)
    return mutantsOf(root, 'a.ts').map(({ what }) => what)
  } finally {
    rmSync(root, { recursive: true })
  }
}

test('operators, conditions, numbers and booleans are changed', () => {
  for (const [text, changes] of [
    ['export const f = (a: number) => a < 3', ['< becomes <=', '3 is one more']],
    ['export const f = (a: number, b: number) => a - b', ['- becomes +']],
    ['export const f = (a: boolean, b: boolean) => a && !b', ['&& becomes ||', '! is removed']],
    ['export const f = (a?: string) => a ?? ""', ['?? becomes &&']],
    ['export function f(a: A) { if (a) return; a() }', ['early return is removed']],
    ['export function f(a: A) { if (a) a() }', ['condition is negated']],
    ['export const f = true', ['true is negated']],
    ['let start = 0', ['0 is one more']],
    ['class A { #taken = 0; take() { this.#taken++ } }', ['0 is one more']],
    ['class A { taken = 0; take() { return ++this.taken } }', ['0 is one more']],
    ['class A { taken = 0; take(size: number) { this.taken += size } }', ['0 is one more']],
    ['class A { isOpen = true }', ['true is negated']],
    [
      'export const f = (a: A[]) => { for (let i = 0; i < a.length; i++) a[i]() }',
      ['0 is one more', 'loop is left out'],
    ],
  ])
    assert.deepEqual(changesOf(text), changes, text)
})

test('types, messages, chosen numbers and defaults for the type checker stay, because nobody could notice a change', () => {
  for (const text of [
    'type A = true | 1',
    "export const f = (name: string) => 'the ' + name",
    'export const f = () => new RangeError(String(1 + 2))',
    'export const f = (log: Log) => log.info(1 < 2)',
    'const LIMIT = 4 * 1024',
    'const DAY_MS = 86_400_000',
    'export const times: Times = { renewal: 10 * DAY_MS, page: 500 }',
    'const table = new Int16Array(STATES * 2)',
    'const memory = new SharedArrayBuffer(64)',
    'class A { start = 0; take(at: number) { this.start = at } }',
    'const [first = 0, second = 1] = text.split(split)',
  ])
    assert.deepEqual(changesOf(text), [], text)
  assert.deepEqual(changesOf('const first = bytes[at] ?? 0'), ['?? becomes &&'])
})

test('a comparison of times, or with a chosen limit, is reversed: its border may lie on either side', () => {
  for (const [text, change] of [
    ['export const f = (now: number) => now >= end', '>= becomes <'],
    ['export const f = () => performance.now() - startedAt < graceMs', '< becomes >='],
    ['export const f = () => this.#stuckMs >= idleTimeoutMs', '>= becomes <'],
    ['export const f = () => timeoutMs > 0', '> becomes >='],
    ['export const f = (size: number) => size > MAX_BYTES', '> becomes <='],
  ])
    assert.ok(changesOf(text).includes(change), text)
})
