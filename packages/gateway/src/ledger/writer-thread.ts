import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { SqliteStore } from '../stores/sqlite/sqlite-store.ts'
import { LedgerWriter } from './ledger-writer.ts'
import { Spool } from './spool.ts'
import type { FromWriter, ToWriter, WriterSettings } from './writer-messages.ts'

// SQLite blocks its thread, so the ledger has a thread of its own.

const { folder, retentionMs, rollupRetentionMs } = workerData as WriterSettings
if (parentPort === null) throw new Error('the writer of the ledger runs in a thread of its own')
const port = parentPort

const SPOOL_BYTES = 64 * 1024 * 1024
const MAINTAIN_MS = 1_000

mkdirSync(folder, { recursive: true, mode: 0o700 })
const writer = new LedgerWriter({
  open: () => new SqliteStore(join(folder, 'ledger.db')),
  spool: new Spool(join(folder, 'ledger.spool'), SPOOL_BYTES),
  retentionMs,
  rollupRetentionMs,
  now: Date.now,
  report: (event) => post({ type: 'event', event }),
})

/** Tasks run one after the other. An unexpected error ends the thread, and the main thread starts another one. */
let last = writer.maintain()
const timer = setInterval(() => queue(maintain), MAINTAIN_MS)
port.on('message', (message: ToWriter) => queue(() => take(message)))

function queue(task: () => Promise<void>): void {
  last = last.then(task)
}

async function maintain(): Promise<void> {
  await writer.maintain()
  post({ type: 'maintained', counts: writer.counts })
}

async function take(message: ToWriter): Promise<void> {
  switch (message.type) {
    case 'add':
      await writer.add(message.entries)
      return post({ type: 'added', serial: message.serial, counts: writer.counts })
    case 'usage':
      return post({ type: 'usage', id: message.id, result: await usage(message) })
    case 'close':
      clearInterval(timer)
      await writer.close()
      return port.close()
  }
}

async function usage({ query }: ToWriter & { type: 'usage' }): Promise<(FromWriter & { type: 'usage' })['result']> {
  try {
    return await writer.usage(query)
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

function post(message: FromWriter): void {
  port.postMessage(message)
}
