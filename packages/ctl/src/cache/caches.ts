import type { CacheListView, CachePurgeView, CacheView } from '@portico/gateway/admin-api'
import { failWith } from '../fail.ts'
import { exitCode, type Io } from '../io.ts'
import { printable } from '../printable.ts'
import { type AdminRequest, openAdmin, readAll, refusal } from '../requests/ask-admin.ts'
import type { AdminAddress } from '../trace/admin-address.ts'

interface CacheCall {
  readonly admin: AdminAddress
  readonly token: string | null
  readonly isJson: boolean
}

/** Prints the response caches of a running gateway; returns the exit code. */
export async function listCaches(call: CacheCall, io: Io): Promise<number> {
  const answer = await ask<CacheListView>({ ...call, path: '/api/cache' })
  if (typeof answer === 'string') return failWith(answer, io)
  const { caches, silentWorkers } = answer
  if (call.isJson) io.stdout.write(`${JSON.stringify(answer)}\n`)
  else if (caches.length === 0) io.stderr.write('no response cache was used since the gateway started\n')
  else io.stdout.write(tableText([HEAD, ...caches.map(rowOf)]))
  if (silentWorkers > 0)
    io.stderr.write(`${silentWorkers} workers are too busy to answer: the sums lack their figures\n`)
  return exitCode.fine
}

interface PurgeCall extends CacheCall {
  readonly selection: Readonly<Record<string, string | true>>
  readonly isConfirmed: boolean
}

/** Purges answers, or says what it would purge; returns the exit code. */
export async function purgeCaches({ selection, isConfirmed, ...call }: PurgeCall, io: Io): Promise<number> {
  if (!isConfirmed) {
    io.stderr.write(`would purge ${textOf(selection)} of ${call.admin.label}; add --yes to do it\n`)
    return exitCode.badUsage
  }
  const answer = await ask<CachePurgeView>({ ...call, path: '/api/cache/purge', method: 'POST', body: selection })
  if (typeof answer === 'string') return failWith(answer, io)
  const { purged, isSharedPurged } = answer
  if (call.isJson) io.stdout.write(`${JSON.stringify(answer)}\n`)
  else io.stderr.write(`purged ${purged} answers in memory${isSharedPurged ? ', and those in Redis' : ''}\n`)
  return exitCode.fine
}

/** Returns the problem as a text. */
async function ask<Answer>(asked: AdminRequest): Promise<Answer | string> {
  const opened = await openAdmin(asked, ANSWER_WITHIN_MS)
  if (opened.kind === 'problem') return opened.problem
  const { admin } = asked
  try {
    const text = await readAll(opened.response)
    const { statusCode } = opened.response
    if (statusCode === 200) return JSON.parse(text) as Answer
    return statusCode === 503 ? `${admin.label}: ${text.trim()}` : refusal(asked, opened.response, text)
  } catch {
    return `${admin.label} is not an admin server of Portico`
  }
}

function textOf(selection: PurgeCall['selection']): string {
  const [[name, value] = ['', '']] = Object.entries(selection)
  if (name === 'all') return 'all answers'
  return name === 'apiKey' ? `the answers for the API key ${value}` : `the answers of the ${name} ${value}`
}

function rowOf({ name, entries, bytes, hits, misses, savedUsd, isShared, shared }: CacheView): string[] {
  const redis = shared === null ? (isShared ? 'unknown' : '-') : `${shared.entries ?? 'many'} (${shared.bytes} bytes)`
  return [name, String(entries), String(bytes), String(hits), String(misses), savedUsd, redis]
}

/** Columns of equal width. */
function tableText(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map(printable))
  const widths = HEAD.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const lineOf = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return cells.map((row) => `${lineOf(row).trimEnd()}\n`).join('')
}

const HEAD = ['CACHE', 'ANSWERS', 'BYTES', 'HITS', 'MISSES', 'SAVED USD', 'IN REDIS']
const ANSWER_WITHIN_MS = 30_000
