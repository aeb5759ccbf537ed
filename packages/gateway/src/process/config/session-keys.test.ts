import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { loadSessionKeys, type SessionKeys } from './session-keys.ts'

function useFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-keys-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function load(
  environment: Record<string, string>,
  keyFile: string | null = null,
): SessionKeys & { warnings: string[] } {
  const warnings: string[] = []
  return { ...loadSessionKeys({ environment, keyFile, warn: (message) => warnings.push(message) }), warnings }
}

function keysOf(loaded: SessionKeys): string[] {
  assert.ok('keys' in loaded, 'problem' in loaded ? loaded.problem : '')
  return loaded.keys
}

function problemOf(loaded: SessionKeys): string {
  assert.ok('problem' in loaded)
  return loaded.problem
}

const newKey = (): string => randomBytes(32).toString('hex')

describe('SESSION_KEY', () => {
  it('is the key, in any case of its digits', () => {
    const key = newKey()
    assert.deepEqual(keysOf(load({ SESSION_KEY: key.toUpperCase() })), [key])
  })

  it('may hold several keys, newest first', () => {
    const keys = [newKey(), newKey(), newKey()]
    assert.deepEqual(keysOf(load({ SESSION_KEY: keys.join(', ') })), keys)
  })

  it('wins over a file', (t) => {
    const key = newKey()
    assert.deepEqual(keysOf(load({ SESSION_KEY: key }, join(useFolder(t), 'none'))), [key])
  })

  for (const [what, text] of [
    ['too short', 'ab'.repeat(31)],
    ['too long', 'ab'.repeat(33)],
    ['no hexadecimal number', 'xy'.repeat(32)],
    ['nothing but commas', ',,'],
    ['more keys than anybody rotates', Array.from({ length: 9 }, newKey).join()],
  ] as const) {
    it(`is refused when it is ${what}`, () => {
      const problem = problemOf(load({ SESSION_KEY: text }))
      assert.match(problem, /^SESSION_KEY: expected 64 hexadecimal digits/)
      assert.ok(!problem.includes(text))
    })
  }

  for (const text of ['00'.repeat(32), '0123456789abcdef'.repeat(4), 'deadbeef'.repeat(8)]) {
    it(`is refused when it can be guessed: ${text.slice(0, 16)}…`, () => {
      assert.match(problemOf(load({ SESSION_KEY: text })), /too weak/)
    })
  }
})

describe('a file', () => {
  it('is made for its owner alone, and kept', (t) => {
    const folder = useFolder(t)
    const environment = { STATE_DIRECTORY: join(folder, 'state') }
    const first = keysOf(load(environment))
    const path = join(folder, 'state', 'session.key')
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.equal(readFileSync(path, 'utf8').trim(), first[0])
    assert.deepEqual(keysOf(load(environment)), first)
  })

  it('is where the config says, else where programs keep their state', (t) => {
    const folder = useFolder(t)
    const named = join(folder, 'keys', 'mine')
    const key = keysOf(load({}, named))
    assert.equal(readFileSync(named, 'utf8').trim(), key[0])
    const home = keysOf(load({ HOME: folder }))
    assert.equal(readFileSync(join(folder, '.local/state/portico/session.key'), 'utf8').trim(), home[0])
    const xdg = keysOf(load({ HOME: folder, XDG_STATE_HOME: join(folder, 'xdg') }))
    assert.equal(readFileSync(join(folder, 'xdg/portico/session.key'), 'utf8').trim(), xdg[0])
  })

  it('may hold the keys before', (t) => {
    const file = join(useFolder(t), 'key')
    const keys = [newKey(), newKey()]
    writeFileSync(file, `${keys.join('\n')}\n`)
    assert.deepEqual(keysOf(load({}, file)), keys)
  })

  it('that holds no key, or one that can be guessed, is a problem', (t) => {
    const file = join(useFolder(t), 'key')
    writeFileSync(file, 'secret\n')
    assert.match(problemOf(load({}, file)), /expected 64 hexadecimal digits/)
    writeFileSync(file, '00'.repeat(32))
    assert.match(problemOf(load({}, file)), /too weak/)
  })

  it('that cannot be written is a problem where the config names it, and a warning where it does not', (t) => {
    const folder = useFolder(t)
    // A file in place of a folder: also whoever may do everything cannot write there.
    writeFileSync(join(folder, 'file'), '')
    assert.match(problemOf(load({}, join(folder, 'file', 'key'))), /the session key cannot be (read|written)/)
    const environment = { HOME: join(folder, 'file') }
    const loaded = load(environment)
    assert.match(loaded.warnings.join(), /will not survive a restart/)
    assert.notDeepEqual(keysOf(loaded), keysOf(load(environment)))
  })

  it('that the config names and that cannot be read is a problem, not a reason for a new key', (t) => {
    assert.match(problemOf(load({}, useFolder(t))), /cannot be read/)
  })
})
