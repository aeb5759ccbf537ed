import { isObject } from '@portico/http/json'
import { ADDED_FIELDS, LEDGER_COLUMNS } from '../stores/ledger-columns.ts'
import type { Settlement } from '../stores/budgets/settlement.ts'
import type { LedgerEntry } from '../stores/store.ts'

/**
 * The lines of the spool and of journals. A line is a JSON list of entries; in a journal, what the call has cost in
 * budgets follows its entry. A line feed before each line separates it from one that a killed process did not finish.
 */

/** The costs of one call in budgets. */
interface SettledCall {
  /** The number of the line among those that settle budgets in shared memory; 0 for other lines. */
  readonly line: number
  readonly settlements: readonly Settlement[]
}

/** A call in a journal, with its end in milliseconds since 1970. */
export interface SettledLine extends SettledCall {
  readonly endedAt: number
}

interface EntryLines {
  readonly entries: readonly LedgerEntry[]
  readonly settled: readonly SettledLine[]
  /** The number of lines with parts that are no entries. */
  readonly unreadable: number
}

/** Returns the line of a call; `entry` is the JSON text of its entry. */
export function journalLine(entry: string, settled: SettledCall | null): string {
  return settled === null ? `\n[${entry}]\n` : `\n[${entry},${JSON.stringify(settled)}]\n`
}

/** Reads lines, whatever is in them. An entry that occurs several times is read several times. */
export function readLines(text: string): EntryLines {
  const entries: LedgerEntry[] = []
  const settled: SettledLine[] = []
  let unreadable = 0
  for (const line of text.split('\n')) {
    if (line === '') continue
    let last: LedgerEntry | null = null
    let isReadable = true
    for (const part of listIn(line) ?? [null]) {
      const entry = entryIn(part)
      if (entry !== null) entries.push((last = entry))
      else if (last !== null && isSettledCall(part)) settled.push({ ...part, endedAt: last.at + last.totalMs })
      else isReadable = false
    }
    if (!isReadable) unreadable += 1
  }
  return { entries, settled, unreadable }
}

function listIn(line: string): readonly unknown[] | null {
  try {
    const value: unknown = JSON.parse(line)
    return Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

/** A store rejects a whole batch because of one wrong value, so all fields are checked. */
function entryIn(value: unknown): LedgerEntry | null {
  if (!isObject(value)) return null
  const entry: { [field: string]: unknown } = { ...ADDED_FIELDS }
  for (const field of FIELDS) {
    const given: unknown = value[field] ?? entry[field] ?? null
    if (!KINDS[field](given)) return null
    entry[field] = given
  }
  // All fields have their kinds.
  return entry as unknown as LedgerEntry
}

function isSettledCall(value: unknown): value is SettledCall {
  if (!isObject(value)) return false
  const { line, settlements } = value
  return isCount(line) && Array.isArray(settlements) && settlements.every(isSettlement)
}

function isSettlement(value: unknown): value is Settlement {
  if (!isObject(value)) return false
  if (value['kind'] === 'redis') return isTextList(value['keys']) && isTextList(value['values'])
  const { kind, table, slot, owner, period, amount, parts } = value
  const hasParts = parts === null || (isObject(parts) && isText(parts['table']) && isCount(parts['part']))
  const isOwner = isText(owner) && /^[0-9]{1,20}$/.test(owner)
  return (
    kind === 'memory' && isText(table) && isCount(slot) && isOwner && isCount(period) && isCount(amount) && hasParts
  )
}

type Check = (value: unknown) => boolean

const isText: (value: unknown) => value is string = (value) => typeof value === 'string'
const isCount: (value: unknown) => value is number = (value): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0
const isTime: Check = (value) => typeof value === 'number' && Number.isFinite(value)
const isTextList: Check = (value) => Array.isArray(value) && value.every(isText)
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)

const KINDS: Readonly<Record<keyof LedgerEntry, Check>> = {
  ...{ id: (value) => isText(value) && value !== '', at: isCount, requestId: isText, key: isText, team: isText },
  ...{ route: isText, requestedModel: isText, model: isText, provider: isText, operation: isText, status: isCount },
  ...{ inputTokens: orNull(isCount), outputTokens: orNull(isCount), cacheReadTokens: orNull(isCount) },
  ...{ cacheWriteTokens: orNull(isCount), reasoningTokens: orNull(isCount), nanoDollars: orNull(isCount) },
  basis: (value) => value === 'computed' || value === 'estimated' || value === 'unknown',
  ...{ provenance: isText, firstTokenMs: orNull(isTime), totalMs: isTime, attempts: isCount, cache: isText },
  savedNanoDollars: orNull(isCount),
}
const FIELDS = Object.keys(LEDGER_COLUMNS) as (keyof LedgerEntry)[]
