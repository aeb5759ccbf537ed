import assert from 'node:assert/strict'
import fs, {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { accessRecord } from '../../testing/access-record.ts'
import { RecordDisk } from './record-disk.ts'
import { RecordStore } from './record-store.ts'
import { Recorder } from './recorder.ts'
import { createRedaction } from '../../redaction/request-redaction.ts'
import { framesIn } from './segment.ts'

function useFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-records-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function scene() {
  const store = new RecordStore()
  store.resize({ passed: 256 * 1024, notable: 64 * 1024 })
  const recorder = new Recorder(Date.now)
  recorder.attach(store.memoryFor('worker-0'))
  recorder.use({ slowMs: 1000, isSampled: null, redaction: createRedaction(new Set()), generation: 3 }, 0)
  const record = (target: string): void =>
    recorder.connection({ ...accessRecord, target, listener: null, route: null, backendIndex: -1 })
  return { store, record }
}

function pathsIn(disk: RecordDisk): (string | null | undefined)[] {
  return disk.read().map((stored) => stored.decode()?.path)
}

test('records are read again by the next process, byte for byte', (t) => {
  const folder = useFolder(t)
  const settings = { folder, maxBytes: 1_000_000, retentionMs: null }
  const { store, record } = scene()
  const first = new RecordDisk(settings, store, assert.fail)
  for (let i = 0; i < 300; i++) record(`/before/${i}`)
  first.close()
  const second = new RecordDisk(settings, new RecordStore(), assert.fail)
  assert.equal(pathsIn(second).length, 300)
  assert.deepEqual(
    new Set(second.read().map((stored) => JSON.stringify(stored.decode()))),
    new Set(store.all().map((stored) => JSON.stringify(stored.decode()))),
  )
  second.close()
  for (const name of readdirSync(folder)) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600)
})

test('a crash in the middle of a record loses that record alone', (t) => {
  const folder = useFolder(t)
  const settings = { folder, maxBytes: 1_000_000, retentionMs: null }
  const { store, record } = scene()
  const disk = new RecordDisk(settings, store, assert.fail)
  for (let i = 0; i < 3; i++) record(`/${i}`)
  disk.close()
  const [name = ''] = readdirSync(folder)
  const whole = readFileSync(join(folder, name))
  const ends = framesIn(whole).map(({ entry }) => entry.byteOffset + entry.length - whole.byteOffset)
  for (let length = 0; length <= whole.length; length++) {
    writeFileSync(join(folder, name), whole.subarray(0, length))
    const after = new RecordDisk(settings, new RecordStore(), assert.fail)
    assert.equal(after.read().length, ends.filter((end) => end <= length).length, String(length))
    after.close()
  }
  for (let at = 0; at < whole.length; at += 7) {
    const broken = Buffer.from(whole)
    broken.writeUInt8(broken.readUInt8(at) ^ 0x40, at)
    assert.equal(framesIn(broken).length, ends.filter((end) => end <= at).length)
  }
})

test('the folder stays within its bytes, and other files in it are left alone', (t) => {
  const folder = useFolder(t)
  writeFileSync(join(folder, 'notes.txt'), 'mine')
  const { store, record } = scene()
  const disk = new RecordDisk({ folder, maxBytes: 64 * 1024, retentionMs: null }, store, assert.fail)
  for (let i = 0; i < 2000; i++) {
    record(`/many/${i}`)
    if (i % 50 === 49) disk.flush()
  }
  disk.close()
  assert.ok(disk.bytes <= 64 * 1024 && disk.bytes > 32 * 1024, String(disk.bytes))
  const paths = pathsIn(disk)
  assert.ok(paths.includes('/many/1999') && !paths.includes('/many/0'))
  assert.equal(readFileSync(join(folder, 'notes.txt'), 'utf8'), 'mine')
})

test('segments older than the retention are deleted', (t) => {
  const folder = useFolder(t)
  const { store, record } = scene()
  record('/old')
  new RecordDisk({ folder, maxBytes: 1_000_000, retentionMs: null }, store, assert.fail).close()
  const anHourAgo = Date.now() / 1000 - 3600
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), anHourAgo, anHourAgo)
  const next = scene()
  const disk = new RecordDisk({ folder, maxBytes: 1_000_000, retentionMs: 60_000 }, next.store, assert.fail)
  next.record('/new')
  disk.flush()
  assert.deepEqual(pathsIn(disk), ['/new'])
  disk.close()
})

test('a folder that is gone is told of, and traffic goes on', (t) => {
  const folder = useFolder(t)
  const { store, record } = scene()
  const told: Error[] = []
  const disk = new RecordDisk({ folder: join(folder, 'sub'), maxBytes: 1_000_000, retentionMs: null }, store, (error) =>
    told.push(error),
  )
  rmSync(join(folder, 'sub'), { recursive: true })
  record('/lost')
  disk.flush()
  assert.match(told[0]?.message ?? '', /ENOENT/)
  disk.close()
})

test('records that could not be written are written later, each record once', (t) => {
  const folder = join(useFolder(t), 'sub')
  const { store, record } = scene()
  const told: Error[] = []
  const disk = new RecordDisk({ folder, maxBytes: 1_000_000, retentionMs: null }, store, (error) => told.push(error))
  rmSync(folder, { recursive: true })
  for (let i = 0; i < 3; i++) record(`/late/${i}`)
  disk.flush()
  assert.equal(told.length, 1)
  mkdirSync(folder)
  record('/on-time')
  disk.flush()
  disk.flush()
  assert.deepEqual(new Set(pathsIn(disk)), new Set(['/late/0', '/late/1', '/late/2', '/on-time']))
  assert.equal(disk.read().length, 4)
  disk.close()
})

test('a disk that is full in the middle of a record hides nothing that is written later', (t) => {
  const folder = useFolder(t)
  const { store, record } = scene()
  const told: Error[] = []
  const disk = new RecordDisk({ folder, maxBytes: 10_000_000, retentionMs: null }, store, (error) => told.push(error))
  const room = useRoom(t)
  record('/before')
  disk.flush()
  for (let round = 0; round < 5; round++) {
    // As the system does it: what there is room for is written, and the next call fails.
    room.left = 100
    for (let i = 0; i < 200; i++) record(`/${round}/${i}`)
    disk.flush()
    assert.equal(told.length, round + 1)
    assert.match(told[round]?.message ?? '', /ENOSPC/)
    assert.equal(disk.read().length, 1 + round * 200, 'what is there is read')
    room.left = Infinity
    disk.flush()
  }
  assert.equal(new Set(pathsIn(disk)).size, 1 + 5 * 200)
  assert.equal(disk.read().length, 1 + 5 * 200)
  assert.equal(readdirSync(folder).length, 1)
  const [name = ''] = readdirSync(folder)
  assert.equal(disk.bytes, statSync(join(folder, name)).size)
  disk.close()
})

test('a segment that cannot be deleted is read as long as it is there', (t) => {
  const folder = useFolder(t)
  const { store, record } = scene()
  const told: Error[] = []
  const disk = new RecordDisk({ folder, maxBytes: 1024, retentionMs: null }, store, (error) => told.push(error))
  t.mock.method(fs, 'rmSync', () => {
    throw Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' })
  })
  syncBuiltinESMExports()
  for (let i = 0; i < 20; i++) {
    record(`/${i}`)
    disk.flush()
  }
  assert.ok(told.length > 0 && told.every(({ message }) => message.includes('EROFS')))
  assert.equal(disk.read().length, 20)
  t.mock.restoreAll()
  syncBuiltinESMExports()
  record('/last')
  disk.flush()
  assert.ok(disk.read().length < 20)
  disk.close()
})

/** A disk with so much room, for everything that is written in this test. */
function useRoom(t: TestContext): { left: number } {
  const room = { left: Infinity }
  const { writeSync } = fs
  t.mock.method(fs, 'writeSync', (file: number, bytes: Buffer, offset = 0): number => {
    if (room.left <= 0) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    const length = Math.min(bytes.length - offset, room.left)
    room.left -= length
    return writeSync(file, bytes, offset, length)
  })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  return room
}
