import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { LineWriter } from './line-writer.ts'

test('lines reach a file in order, whatever the sizes of the batches', async (t) => {
  const { path, fd } = openFile(t)
  const writer = new LineWriter({ fd, batchLength: 100 })
  let expected = ''
  for (let i = 0; i < 2000; i += 1) {
    const line = `${i} ${'é'.repeat(i % 50)}\n`
    expected += line
    writer.write(line)
    if (i % 300 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await writer.flush()
  assert.equal(readFileSync(path, 'utf8'), expected)
})

test('a line longer than what a pipe takes in one piece arrives whole', async (t) => {
  const { reader, writer: fd } = openPipe(t)
  const writer = new LineWriter({ fd })
  const long = `${'x'.repeat(200_000)}\n`
  writer.write(`before\n${long}after\n`)
  const flushed = writer.flush()
  assert.ok((await readUntil(reader, /after\n$/)) === `before\n${long}after\n`)
  await flushed
})

test('flush resolves when there is nothing to write', async (t) => {
  const { fd } = openFile(t)
  await assert.doesNotReject(new LineWriter({ fd }).flush())
})

test('a line leaves by itself after the delay', async (t) => {
  const { path, fd } = openFile(t)
  new LineWriter({ fd, delayMs: 1 }).write('alone\n')
  while (readFileSync(path, 'utf8') === '') await new Promise((resolve) => setTimeout(resolve, 1))
  assert.equal(readFileSync(path, 'utf8'), 'alone\n')
})

test('flushSync writes what was collected, also while a write is under way', async (t) => {
  const { path, fd } = openFile(t)
  const writer = new LineWriter({ fd })
  writer.write('first\n')
  writer.flushSync()
  assert.equal(readFileSync(path, 'utf8'), 'first\n')
  writer.write('second\n')
  const flushed = writer.flush()
  writer.write('third\n')
  writer.flushSync()
  await flushed
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  assert.deepEqual(lines.toSorted(), ['first', 'second', 'third'])
})

test('a full pipe blocks nobody: lines wait, then are dropped, counted and told', async (t) => {
  const { reader, writer: fd } = openPipe(t)
  const writer = new LineWriter({
    fd,
    batchLength: 1000,
    maxBacklog: 100_000,
    describeDropped: (count) => `dropped ${count}\n`,
  })
  const line = `${'x'.repeat(99)}\n`
  for (let i = 0; i < 5000; i += 1) writer.write(line)
  const flushed = writer.flush()
  const received = await readUntil(reader, /dropped \d+\n$/)
  await flushed
  const lines = received.trimEnd().split('\n')
  const dropped = Number(lines.pop()!.split(' ')[1])
  assert.ok(dropped > 0)
  assert.equal(lines.length + dropped, 5000)
  assert.ok(lines.every((read) => read === line.trimEnd()))
})

test('a reader that is gone is no error', async (t) => {
  const { reader, writer: fd } = openPipe(t)
  const writer = new LineWriter({ fd })
  closeSync(reader)
  writer.write('nobody reads this\n')
  await assert.doesNotReject(writer.flush())
  writer.write('nor this\n')
  await assert.doesNotReject(writer.flush())
  assert.doesNotThrow(() => writer.flushSync())
})

test('a full disk loses lines but not the writer', async (t) => {
  const fd = openSync('/dev/full', 'w')
  t.after(() => closeSync(fd))
  const writer = new LineWriter({ fd, batchLength: 10 })
  for (let i = 0; i < 20; i += 1) writer.write(`line ${i}\n`)
  await assert.doesNotReject(writer.flush())
  writer.write('again\n')
  await assert.doesNotReject(writer.flush())
})

test('a socket that takes no more for now gets every line later', async (t) => {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [[peer]] = (await Promise.all([once(server, 'connection'), once(client, 'connect')])) as [[Socket], unknown]
  const { fd } = (client as unknown as { _handle: { fd: number } })._handle
  const writer = new LineWriter({ fd, maxBacklog: 1e8 })
  const line = `${'y'.repeat(999)}\n`
  for (let i = 0; i < 20_000; i += 1) writer.write(line)
  const flushed = writer.flush().then(() => client.end())
  const [received] = await Promise.all([text(peer), flushed])
  assert.ok(received === line.repeat(20_000))
})

for (const kind of ['socket', 'pipe']) {
  test(`lines of several threads to one ${kind} do not mix`, async () => {
    const program = `
      import { Worker, isMainThread, workerData } from 'node:worker_threads'
      import { LineWriter } from ${JSON.stringify(new URL('line-writer.ts', import.meta.url).href)}
      if (isMainThread) {
        for (const letter of ['a', 'b', 'c']) new Worker(new URL(import.meta.url), { workerData: letter })
      } else {
        const writer = new LineWriter()
        for (let i = 0; i < 3000; i += 1) writer.write(workerData.repeat(50 + (i % 300)) + '\\n')
        await writer.flush()
      }`
    const node = [process.execPath, '--input-type=module', '--eval', writerModule(program)]
    // The runtime gives a child a socket for its output, a shell makes a real pipe.
    const [command, ...args] = kind === 'socket' ? node : ['sh', '-c', '"$@" | cat', 'sh', ...node]
    const child = spawn(command!, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
    const lines = output.trimEnd().split('\n')
    assert.equal(lines.length, 9000)
    assert.ok(lines.every((line) => /^(a+|b+|c+)$/.test(line)))
  })
}

/** A worker cannot load an evaluated module by its address, so it gets the program as data. */
function writerModule(program: string): string {
  return program.replace(
    'new URL(import.meta.url)',
    `new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(program)}))`,
  )
}

function openFile(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'lines-'))
  const path = join(folder, 'out.log')
  const fd = openSync(path, 'w')
  t.after(() => {
    closeSync(fd)
    rmSync(folder, { recursive: true })
  })
  return { path, fd }
}

function openPipe(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'lines-'))
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(path, constants.O_WRONLY)
  t.after(() => {
    closeSync(writer)
    rmSync(folder, { recursive: true })
  })
  return { reader, writer }
}

async function readUntil(fd: number, end: RegExp): Promise<string> {
  const chunk = Buffer.alloc(65_536)
  let received = ''
  while (!end.test(received.slice(-100))) {
    try {
      received += chunk.toString('utf8', 0, readSync(fd, chunk))
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'EAGAIN')
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  closeSync(fd)
  return received
}
