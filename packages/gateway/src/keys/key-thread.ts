import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import type { KeyStore } from '../stores/key-store.ts'
import { SqliteKeyStore } from '../stores/sqlite/sqlite-key-store.ts'
import { findChanges } from './find-changes.ts'
import { findKeys } from './find-keys.ts'
import type {
  FromKeyThread,
  KeyAnswer,
  KeyAnswers,
  KeyQuestion,
  KeyThreadSettings,
  ToKeyThread,
} from './key-messages.ts'
import { KeyRegistry } from './key-registry.ts'
import { FAILED, LOADING, OPEN } from './key-table.ts'
import { KeyTableWriter } from './key-table-writer.ts'
import { KeyProblem } from './key-problem.ts'
import { TeamRegistry } from './team-registry.ts'

// SQLite blocks its thread, so keys have a thread of their own.
const { folder, table: buffer, maxKeys } = workerData as KeyThreadSettings
if (parentPort === null) throw new Error('the store of keys runs in a thread of its own')
const port = parentPort

interface OpenStore {
  readonly store: KeyStore
  readonly keys: KeyRegistry
  readonly teams: TeamRegistry
  readonly table: KeyTableWriter
}

/** A file that was repaired is used without a restart. */
const RETRY_MS = 2_000

let open: OpenStore | null = null
let problem: string | null = null
/** Tasks run one after the other. */
let last = tryOpen()
const timer = setInterval(() => queue(tryOpen), RETRY_MS)
port.on('message', (message: ToKeyThread) => queue(() => take(message)))

function queue(task: () => Promise<void>): void {
  last = last.then(task)
}

/** Opens the store and fills the table. While that fails, no key of the store is accepted. */
async function tryOpen(): Promise<void> {
  if (open !== null) return
  let store: KeyStore | null = null
  const table = new KeyTableWriter(buffer, maxKeys, LOADING)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    store = new SqliteKeyStore(join(folder, 'keys.db'))
    const parts = { store, table, now: Date.now }
    const teams = new TeamRegistry(parts)
    const keys = new KeyRegistry(parts, teams)
    await teams.load()
    await keys.load()
    table.setState(OPEN)
    open = { store, keys, teams, table }
    problem = null
    tellState()
  } catch (error) {
    table.setState(FAILED)
    await store?.close()
    const why = error instanceof Error ? error.message : String(error)
    const isNew = why !== problem
    problem = why
    if (isNew) tellState()
  }
}

async function take(message: ToKeyThread): Promise<void> {
  if (message.type === 'close') {
    clearInterval(timer)
    await open?.store.close()
    return port.close()
  }
  post({ type: 'answered', id: message.id, answer: await answer(message.question) })
}

async function answer(question: KeyQuestion): Promise<KeyAnswer> {
  if (open === null) return { refused: { status: 503, message: `the store of keys cannot be used: ${problem ?? ''}` } }
  try {
    const value = await valueOf(open, question)
    if (question.ask === 'changeKey' || question.ask === 'changeTeam') tellState()
    return { value }
  } catch (error) {
    if (error instanceof KeyProblem) return { refused: { status: error.status, message: error.message } }
    const why = error instanceof Error ? error.message : String(error)
    return { refused: { status: 503, message: `the store of keys failed: ${why}` } }
  }
}

function valueOf(
  { store, keys, teams }: OpenStore,
  question: KeyQuestion,
): KeyAnswers[keyof KeyAnswers] | Promise<KeyAnswers[keyof KeyAnswers]> {
  switch (question.ask) {
    case 'keys':
      return findKeys(store, question.search, new Date().toISOString())
    case 'key':
      return store.key(question.name)
    case 'teams':
      return store.teams()
    case 'team':
      return store.team(question.name)
    case 'audit':
      return findChanges(store, question.search)
    case 'changeKey':
      return keys.change(question.name, question.change, question.by)
    case 'changeTeam':
      return teams.change(question.name, question.change, question.by)
  }
}

function tellState(): void {
  post({ type: 'state', problem, entries: open?.table.count ?? 0 })
}

function post(message: FromKeyThread): void {
  port.postMessage(message)
}
