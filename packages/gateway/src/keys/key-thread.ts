import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import type { KeyStore } from '../stores/key-store.ts'
import { SqliteKeyStore } from '../stores/sqlite/sqlite-key-store.ts'
import type { FromKeyThread, KeyThreadSettings, ToKeyThread } from './key-messages.ts'
import { KeyService } from './key-service.ts'
import { LOADING } from './table/key-table.ts'
import { KeyTableWriter } from './table/key-table-writer.ts'

// SQLite blocks its thread, so keys have a thread of their own.
const { folder, table, maxKeys, postgres, graceMs } = workerData as KeyThreadSettings
if (parentPort === null) throw new Error('the store of keys runs in a thread of its own')
const port = parentPort

/** A file that was repaired is used without a restart. */
const RETRY_MS = 2_000
/** Changes of other gateways hold after this time at the latest, also where no notification arrives. */
const FOLLOW_MS = 400
/** When the gateway stops, a server that does not answer gets this time. */
const LAST_MS = 2_000

const ending = new AbortController()
const service = new KeyService({
  open,
  table: new KeyTableWriter(table, maxKeys, LOADING),
  graceMs,
  now: Date.now,
  monotonic: () => performance.now(),
  report: (state) => post({ type: 'state', ...state }),
  reportFull: () => post({ type: 'full' }),
})

/** Tasks run one after the other. */
let last = service.maintain()
let isMaintaining = false
const timer = setInterval(maintain, postgres === null ? RETRY_MS : FOLLOW_MS)
port.on('message', receive)

async function open(): Promise<KeyStore> {
  if (postgres === null) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return new SqliteKeyStore(join(folder, 'keys.db'))
  }
  const { PostgresKeyStore } = await import('../stores/postgres/postgres-key-store.ts')
  return PostgresKeyStore.open(postgres, { signal: ending.signal, changed: maintain })
}

function queue(task: () => Promise<void>): void {
  last = last.then(task)
}

/** One look at a slow store is enough. A change during the look is found by the next one, which a notification brings. */
function maintain(): void {
  if (isMaintaining) return
  isMaintaining = true
  queue(async () => {
    isMaintaining = false
    await service.maintain()
  })
}

function receive(message: ToKeyThread): void {
  if (message.type === 'close') {
    setTimeout(() => ending.abort(), LAST_MS).unref()
    return queue(close)
  }
  const { id, question } = message
  queue(async () => post({ type: 'answered', id, answer: await service.answer(question) }))
}

async function close(): Promise<void> {
  clearInterval(timer)
  await service.close()
  port.close()
}

function post(message: FromKeyThread): void {
  port.postMessage(message)
}
