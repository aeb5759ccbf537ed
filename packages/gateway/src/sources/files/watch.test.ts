import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { watchConfig } from './watch.ts'
import type { ConfigWatch, WatchOptions } from './watch.ts'

let folder = ''
let file = ''
let watching: ConfigWatch
let texts: (string | null)[] = []
let changes = 0
let wake: () => void = () => {}

function start(config: string, options: WatchOptions = {}): void {
  changes = 0
  texts = []
  watching = watchConfig(
    config,
    (text) => {
      changes++
      texts.push(text)
      wake()
    },
    { namedQuietMs: 20, maxWaitMs: 200, ...options },
  )
}

/** Waits for the number of changes; the test's own time limit ends a wait that is in vain. */
function changed(count: number): Promise<void> {
  return staysAlive(async () => {
    for (;;) {
      if (changes >= count) return
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  })
}

/** Waits until another watch, of a file that is written now, has noticed it: this one has had the same time by then. */
function othersNotice(): Promise<void> {
  const path = join(folder, 'other.yaml')
  writeFileSync(path, 'before')
  return staysAlive(async () => {
    const noticed = Promise.withResolvers<void>()
    const other = watchConfig(path, () => noticed.resolve(), { maxWaitMs: 200 })
    writeFileSync(path, 'after')
    await noticed.promise
    other.close()
  })
}

/** A watch does not keep a process alive by itself. */
async function staysAlive(work: () => Promise<void>): Promise<void> {
  const alive = setInterval(() => {}, 1_000)
  await work()
  clearInterval(alive)
}

describe('a watch', () => {
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'portico-watch-'))
    file = join(folder, 'gateway.yaml')
    writeFileSync(file, 'one')
  })

  afterEach(() => {
    watching.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('a rewritten file is noticed', async () => {
    start(file)
    writeFileSync(file, 'two')
    await changed(1)
  })

  test('a file replaced by a rename is noticed, again and again', async () => {
    start(file)
    for (const round of [1, 2, 3]) {
      writeFileSync(`${file}.tmp`, `round ${round}`)
      renameSync(`${file}.tmp`, file)
      await changed(round)
    }
  })

  const never = { quietMs: 60_000, maxWaitMs: 60_000 }

  test('a file replaced by a rename counts at once, one written in place after it was quiet', async () => {
    start(file, never)
    writeFileSync(`${file}.tmp`, 'renamed')
    renameSync(`${file}.tmp`, file)
    await changed(1)
    writeFileSync(file, 'in place')
    await othersNotice()
    assert.deepEqual(texts, ['renamed'])
  })

  test('a file that is made in place waits for quiet, though its folder tells of it as of a rename', async () => {
    rmSync(file)
    start(file, never)
    writeFileSync(file, 'half')
    await othersNotice()
    assert.deepEqual(texts, [])
  })

  test('a text without its end, no text and no file are waited for', async () => {
    writeFileSync(file, 'one\n')
    start(file, { maxWaitMs: 60_000 })
    for (const step of [() => writeFileSync(file, 'ha'), () => writeFileSync(file, ''), () => rmSync(file)]) {
      step()
      await othersNotice()
    }
    writeFileSync(file, 'two\n')
    await changed(1)
    assert.deepEqual(texts, ['two\n'])
  })

  test('a file that is deleted and made again is noticed', async () => {
    start(file)
    rmSync(file)
    await changed(1)
    writeFileSync(file, 'three')
    await changed(2)
  })

  test('a swapped folder link, as Kubernetes does it, is noticed', async () => {
    for (const name of ['v1', 'v2']) {
      mkdirSync(join(folder, name))
      writeFileSync(join(folder, name, 'config.yaml'), name)
    }
    symlinkSync('v1', join(folder, '..data'))
    symlinkSync('..data/config.yaml', join(folder, 'config.yaml'))
    start(join(folder, 'config.yaml'))
    symlinkSync('v2', join(folder, '..tmp'))
    renameSync(join(folder, '..tmp'), join(folder, '..data'))
    await changed(1)
  })

  test('the same contents written again, and other files of the folder, are no change', async () => {
    start(file)
    writeFileSync(file, 'one')
    writeFileSync(join(folder, 'other'), 'x')
    await othersNotice()
    assert.equal(changes, 0)
    writeFileSync(file, 'two')
    await changed(1)
    assert.equal(changes, 1)
  })

  test('a change that no folder tells of is found', { timeout: 40_000 }, async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'portico-watch-'))
    writeFileSync(join(elsewhere, 'real.yaml'), 'one')
    rmSync(file)
    symlinkSync(join(elsewhere, 'real.yaml'), file)
    start(file)
    for (const round of [1, 2]) {
      writeFileSync(join(elsewhere, 'real.yaml'), `round ${round}`)
      await changed(round)
    }
    rmSync(elsewhere, { recursive: true })
    assert.deepEqual(texts, ['round 1', 'round 2'])
  })

  test('a file written all the time still goes live', async () => {
    start(file)
    let count = 0
    const writer = setInterval(() => writeFileSync(file, `text ${count++}`), 5)
    await changed(2)
    clearInterval(writer)
  })

  test('files can be added and dropped, and a change during a reload is not lost', async () => {
    const other = join(folder, 'sub', 'tls.crt')
    mkdirSync(join(folder, 'sub'))
    writeFileSync(other, 'a')
    start(file)
    watching.update([other])
    writeFileSync(other, 'b')
    await changed(1)
    writeFileSync(file, 'two')
    // The reload asks for the same files again while the change is still waiting to be looked at.
    watching.update([other])
    await changed(2)
    watching.update([])
    writeFileSync(other, 'c')
    await othersNotice()
    assert.equal(changes, 2)
  })

  test('nothing is called after close', async () => {
    start(file)
    writeFileSync(file, 'two')
    watching.close()
    await othersNotice()
    assert.equal(changes, 0)
  })
})
