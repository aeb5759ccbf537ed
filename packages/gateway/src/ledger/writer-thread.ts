import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { SqliteStore } from '../stores/sqlite/sqlite-store.ts'
import type { LedgerStore } from '../stores/store.ts'
import { LedgerWriter } from './ledger-writer.ts'
import { Spool } from './spool.ts'
import type { FromWriter, ToWriter, WriterSettings } from './writer-messages.ts'

// SQLite blocks its thread, so the ledger has a thread of its own.

const { folder, retentionMs, rollupRetentionMs, postgres } = workerData as WriterSettings
if (parentPort === null) throw new Error('the writer of the ledger runs in a thread of its own')
const port = parentPort

const SPOOL_BYTES = 64 * 1024 * 1024
const MAINTAIN_MS = 1_000
/** When the gateway stops, a server that does not answer gets this time before what it should store is spooled. */
const LAST_MS = 2_000

mkdirSync(folder, { recursive: true, mode: 0o700 })
const ending = new AbortController()
const writer = new LedgerWriter({
  open,
  spool: new Spool(join(folder, 'ledger.spool'), SPOOL_BYTES),
  retentionMs,
  rollupRetentionMs,
  now: Date.now,
  report: (event) => post({ type: 'event', event }),
  recovered: (file) => post({ type: 'recovered', file, counts: writer.counts, problem: writer.problem }),
})

let isMaintenanceQueued = false
/** Tasks run one after the other. An unexpected error ends the thread, and the main thread starts another one. */
const first = maintain()
let last = first
const timer = setInterval(queueMaintenance, MAINTAIN_MS)
port.on('message', receive)

async function open(): Promise<LedgerStore> {
  if (postgres === null) return new SqliteStore(join(folder, 'ledger.db'))
  const { PostgresLedger } = await import('../stores/postgres/postgres-ledger.ts')
  return PostgresLedger.open(postgres, ending.signal)
}

function queue(task: () => Promise<void>): void {
  last = last.then(task)
}

/** A slow store gets no second task before the first one has begun. */
function queueMaintenance(): void {
  if (isMaintenanceQueued) return
  isMaintenanceQueued = true
  queue(maintain)
}

async function maintain(): Promise<void> {
  isMaintenanceQueued = false
  await writer.maintain()
  post({ type: 'maintained', counts: writer.counts, problem: writer.problem })
}

function receive(message: ToWriter): void {
  switch (message.type) {
    case 'add':
      return queue(() => add(message))
    case 'usage':
      // Entries do not wait for queries.
      void first.then(() => answer(message))
      return
    case 'recover':
      return queue(() => writer.recover(message.file))
    case 'close':
      setTimeout(() => ending.abort(), LAST_MS).unref()
      return queue(close)
  }
}

async function add({ serial, entries }: ToWriter & { type: 'add' }): Promise<void> {
  await writer.add(entries)
  post({ type: 'added', serial, counts: writer.counts, problem: writer.problem })
}

async function answer({ id, query }: ToWriter & { type: 'usage' }): Promise<void> {
  try {
    post({ type: 'usage', id, result: await writer.usage(query) })
  } catch (error) {
    post({ type: 'usage', id, result: { problem: error instanceof Error ? error.message : String(error) } })
  }
}

async function close(): Promise<void> {
  clearInterval(timer)
  await writer.close()
  port.close()
}

function post(message: FromWriter): void {
  port.postMessage(message)
}
