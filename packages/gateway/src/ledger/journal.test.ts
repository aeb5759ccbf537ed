import assert from 'node:assert/strict'
import nodeFs, * as fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { tmpdir } from 'node:os'
import { entryOf } from '../stores/testing/store-contract.ts'
import { claimDeadJournals, readJournal } from './dead-journals.ts'
import { journalLine, readLines } from './entry-lines.ts'
import { InstanceLock } from './instance-lock.ts'
import { JournalControl } from './journal-control.ts'
import { journalPath, lockPath, MOST_JOURNAL_BYTES } from './journal-files.ts'
import { Journal, type SentCosts } from './journal.ts'

const INSTANCE = '0123456789abcdef'
const OTHER = 'f'.repeat(16)
const NAME = { instance: INSTANCE, worker: 1 }
const lineOf = (id: string, fields = {}): string => journalLine(JSON.stringify(entryOf(id, fields)), null)

function useFolder(t: TestContext): string {
  const folder = fs.mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}

function useJournal(t: TestContext, folder = useFolder(t), sent: SentCosts | null = null) {
  const control = new JournalControl()
  const state = { now: 0, missed: 0, errors: [] as string[] }
  const journal = new Journal({
    ...{ folder, name: NAME, control, sent },
    now: () => state.now,
    missed: () => state.missed++,
    failed: ({ message }) => state.errors.push(message),
  })
  t.after(() => journal.close())
  const [a, b] = [journalPath(folder, NAME, 'a'), journalPath(folder, NAME, 'b')]
  const idsIn = (file: string): string[] =>
    fs.existsSync(file) ? readLines(fs.readFileSync(file, 'utf8')).entries.map(({ id }) => id) : []
  return { folder, control, state, journal, a, b, idsIn }
}

describe('the journal of a worker', () => {
  test('has each line at once, in a file that others cannot read', (t) => {
    const { journal, a, idsIn } = useJournal(t)
    assert.ok(!fs.existsSync(a))
    assert.ok(journal.append(lineOf('a')))
    assert.ok(journal.append(lineOf('b')))
    assert.deepEqual(idsIn(a), ['a', 'b'])
    assert.equal(fs.statSync(a).mode & 0o777, 0o600)
  })

  test('is emptied when the batch is stored, the costs are saved, and the server of budgets has its costs', (t) => {
    let known = -1
    const { journal, control, a, idsIn } = useJournal(t, undefined, { mark: () => 7, has: (mark) => mark <= known })
    control.number()
    journal.append(lineOf('a'))
    journal.posted(1)
    const left = (): boolean => journal.tidy()
    assert.ok(left())
    control.confirmed = 1
    assert.ok(left())
    control.saved = 1
    assert.ok(left())
    known = 7
    assert.ok(!left())
    assert.deepEqual(idsIn(a), [])
    journal.append(lineOf('b'))
    assert.ok(left(), 'a line that was not posted stays')
    assert.deepEqual(idsIn(a), ['b'])
  })

  test('takes turns with its files, so that it is emptied while calls go on', (t) => {
    const { journal, control, a, b, idsIn } = useJournal(t)
    const long = { provenance: 'x'.repeat(300_000) }
    journal.append(lineOf('a', long))
    journal.posted(1)
    journal.append(lineOf('b', long))
    assert.deepEqual([idsIn(a), idsIn(b)], [['a'], ['b']])
    control.confirmed = 1
    journal.posted(2)
    journal.append(lineOf('c'))
    assert.deepEqual([idsIn(a), idsIn(b)], [['c'], ['b']])
  })

  test('is bounded, and goes on once its lines are stored', (t) => {
    const { journal, control, state, a, b, idsIn } = useJournal(t)
    const long = { provenance: 'x'.repeat(1_000_000) }
    let count = 0
    for (; journal.append(lineOf(`${count}`, long)); count++) journal.posted(count + 1)
    assert.equal(count, 16)
    assert.ok(fs.statSync(a).size + fs.statSync(b).size <= MOST_JOURNAL_BYTES)
    assert.deepEqual([state.missed, state.errors.length], [1, 1])
    control.confirmed = count
    journal.posted(count)
    assert.ok(!journal.append(lineOf('paused')))
    state.now = 1_000
    assert.ok(journal.append(lineOf('again')))
    assert.deepEqual([...idsIn(a), ...idsIn(b)], ['again'])
  })

  test('reports a folder that cannot be written, tries it once a second, and goes on', (t) => {
    const folder = useFolder(t)
    const gone = join(folder, 'gone')
    const { journal, state } = useJournal(t, gone)
    for (let i = 0; i < 3; i++) assert.ok(!journal.append(lineOf('a')))
    assert.equal(state.missed, 3)
    assert.equal(state.errors.length, 1)
    assert.match(state.errors[0] ?? '', /ENOENT/)
    fs.mkdirSync(gone)
    state.now = 1_000
    assert.ok(journal.append(lineOf('b')))
  })

  test('reports a disk that is full, and leaves no part of a line', (t) => {
    const { journal, state, a, idsIn } = useJournal(t)
    journal.append(lineOf('a'))
    const write = fs.writeSync
    const half = (fd: number, text: string): number => write(fd, text.slice(0, text.length / 2))
    const mocked = t.mock.method(nodeFs, 'writeSync', half)
    syncBuiltinESMExports()
    t.after(() => (mocked.mock.restore(), syncBuiltinESMExports()))
    assert.ok(!journal.append(lineOf('b')))
    assert.deepEqual(state.errors, ['the disk took a part of a line'])
    mocked.mock.restore()
    syncBuiltinESMExports()
    state.now = 1_000
    assert.ok(journal.append(lineOf('c')))
    assert.deepEqual([idsIn(a), readLines(fs.readFileSync(a, 'utf8')).unreadable], [['a', 'c'], 0])
  })

  test('follows no link', (t) => {
    const { journal, state, folder, a } = useJournal(t)
    fs.symlinkSync(join(folder, 'elsewhere'), a)
    assert.ok(!journal.append(lineOf('a')))
    assert.match(state.errors[0] ?? '', /EEXIST|ELOOP/)
  })
})

describe('the journals of dead processes', () => {
  const put = (folder: string, text: string, instance = OTHER): string => {
    const file = journalPath(folder, { instance, worker: 2 }, 'a')
    fs.writeFileSync(file, text, { mode: 0o600 })
    return file
  }
  const claim = (folder: string) => {
    const errors: string[] = []
    const found = claimDeadJournals(folder, INSTANCE, (file, error) => errors.push(`${file} ${String(error)}`))
    return { ...found, errors, files: found.instances.flatMap(({ journals }) => journals.map(({ file }) => file)) }
  }

  test('are claimed by one process, and those of living processes by none', (t) => {
    const folder = useFolder(t)
    const dead = put(folder, lineOf('a'))
    put(folder, lineOf('b'), 'a'.repeat(16))
    put(folder, lineOf('c'), INSTANCE)
    const living = InstanceLock.take(lockPath(folder, 'a'.repeat(16))) ?? assert.fail('not locked')
    const first = claim(folder)
    assert.deepEqual([first.files, first.hasLiving, first.errors], [[dead], true, []])
    assert.deepEqual(claim(folder).files, [])
    for (const { lock } of first.instances) lock.release(false)
    assert.deepEqual(claim(folder).instances.length, 1)
    living.release(true)
  })

  test('may be empty, torn, or something else altogether', (t) => {
    const folder = useFolder(t)
    put(folder, '')
    for (const name of ['ledger-x-1a.journal', `ledger-${OTHER}-1c.journal`, 'ledger.db', 'budgets.json', 'notes'])
      fs.writeFileSync(join(folder, name), 'x')
    fs.mkdirSync(journalPath(folder, { instance: OTHER, worker: 3 }, 'a'))
    fs.symlinkSync(join(folder, 'notes'), journalPath(folder, { instance: OTHER, worker: 4 }, 'b'))
    const { files, errors } = claim(folder)
    assert.equal(files.length, 1)
    assert.equal(errors.length, 2)
    assert.deepEqual(readJournal(join(folder, 'notes'), assert.fail), [])
    assert.deepEqual(readJournal(journalPath(folder, NAME, 'b'), assert.fail), [])
  })

  test('that are too long or cannot be read are reported, and stay', (t) => {
    const folder = useFolder(t)
    const long = put(folder, '')
    fs.truncateSync(long, MOST_JOURNAL_BYTES + 1)
    const { files, errors } = claim(folder)
    assert.deepEqual(files, [])
    assert.match(errors.join(), /is longer than/)
    assert.ok(fs.existsSync(long))
    if (process.getuid?.() === 0) return
    fs.truncateSync(long, 0)
    fs.chmodSync(long, 0)
    assert.match(claim(folder).errors.join(), /EACCES/)
  })
})

describe('the lock of a process on its journals', () => {
  test('lets nobody else in until it is released', (t) => {
    const file = lockPath(useFolder(t), INSTANCE)
    const own = InstanceLock.take(file) ?? assert.fail('not locked')
    assert.equal(InstanceLock.take(file), null)
    assert.equal(fs.statSync(file).mode & 0o777, 0o600)
    own.release(true)
    assert.ok(!fs.existsSync(file))
  })
})
