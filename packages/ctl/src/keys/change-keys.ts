import { hash, randomBytes } from 'node:crypto'
import { failWith } from '../fail.ts'
import { exitCode, type Io } from '../io.ts'
import { printable } from '../printable.ts'
import { type KeyEntries, type KeyEntry, KeyFileProblem, readKeys, updateKeys } from './key-file.ts'
import { momentOf } from './moment.ts'

export interface KeyChange {
  readonly action: string
  readonly name: string
  readonly file: string
  readonly team: string | null
  readonly owner: string | null
  readonly expires: string | null
  readonly overlap: string
  readonly isJson: boolean
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Carries out one action on a file of keys; returns the exit code. */
export function changeKeys(change: KeyChange, io: Io): number {
  try {
    if (change.action === 'list') return list(change, io)
    const created = change.action === 'create' || change.action === 'rotate' ? newKey() : null
    updateKeys(change.file, (keys) => changed(keys, change, created))
    if (created === null) io.stderr.write(`${change.action}d ${change.name}\n`)
    else if (change.isJson) io.stdout.write(`${JSON.stringify({ name: change.name, key: created.key })}\n`)
    else {
      io.stdout.write(`${created.key}\n`)
      io.stderr.write(`This is the key of ${change.name}. It is not stored, and cannot be shown again.\n`)
    }
    return exitCode.fine
  } catch (error) {
    if (error instanceof KeyFileProblem) return failWith(error.message, io)
    throw error
  }
}

interface NewKey {
  readonly key: string
  readonly keyHash: string
  /** The beginning of the key, by which people recognize it. */
  readonly prefix: string
}

function newKey(): NewKey {
  const key = `pk_live_${randomBytes(32).toString('base64url')}`
  return { key, keyHash: hashOf(key), prefix: key.slice(0, PREFIX_LENGTH) }
}

function hashOf(key: string | Buffer): string {
  return `sha256:${hash('sha256', key)}`
}

/** `pk_live_` and four more characters, which leave 232 unknown bits. */
const PREFIX_LENGTH = 12

function changed(keys: KeyEntries, change: KeyChange, created: NewKey | null): KeyEntries {
  const { action, name, now } = change
  const old = keys.get(name)
  if (action === 'create' && created !== null) {
    if (old !== undefined && !isRevoked(old)) throw new KeyFileProblem(`there is a key ${name} already; rotate it`)
    return new Map([...keys, [name, createdEntry(change, created)]])
  }
  if (old === undefined || isRevoked(old)) throw new KeyFileProblem(`there is no key ${name}${nearest(keys)}`)
  switch (action) {
    case 'rotate':
      return created === null ? keys : rotated(keys, { change, old, created })
    case 'revoke':
      return new Map([...keys].filter(([other]) => !isOldKeyOf(other, name)).concat([[name, revokedEntry(old, now)]]))
    case 'disable':
      return new Map(
        [...keys].map(([other, entry]) => [other, isKeyOf(other, name) ? { ...entry, disabled: true } : entry]),
      )
    default:
      return new Map([...keys].map(([other, entry]) => [other, isKeyOf(other, name) ? withoutDisabled(entry) : entry]))
  }
}

function createdEntry({ team, owner, expires, now }: KeyChange, { keyHash, prefix }: NewKey): KeyEntry {
  const metadata = { prefix, created: isoTime(now), ...(team !== null && { team }), ...(owner !== null && { owner }) }
  return { keyHash, metadata, ...(expires !== null && { expires: isoTime(readMoment(expires, now)) }) }
}

/** The new key takes the name. The old one keeps its metadata, and its name in expressions, until it expires. */
function rotated(
  keys: KeyEntries,
  { change: { name, overlap, now }, old, created }: { change: KeyChange; old: KeyEntry; created: NewKey },
): KeyEntries {
  const { keyHash, prefix } = created
  const end = Math.min(readMoment(overlap, now), old.expires === undefined ? Infinity : Date.parse(old.expires))
  const oldName = `${name}~${textIn(old, 'prefix') ?? 'old'}`
  const oldEntry = { ...old, metadata: { name, ...old.metadata }, expires: isoTime(end) }
  const metadata = { ...old.metadata, prefix, created: isoTime(now) }
  const isOver = ([other, entry]: [string, KeyEntry]): boolean =>
    isOldKeyOf(other, name) && Date.parse(entry.expires ?? '') <= now
  const kept = [...keys].filter((each) => !isOver(each))
  return new Map([...kept, ...(end > now ? [[oldName, oldEntry] as const] : []), [name, { ...old, keyHash, metadata }]])
}

/**
 * A revoked key stays listed with a hash that no key has. The entry is not removed, because a file without keys would be
 * rejected, and gateways would continue with the keys that they know.
 */
function revokedEntry({ metadata }: KeyEntry, now: number): KeyEntry {
  return { keyHash: hashOf(randomBytes(32)), metadata: { ...metadata, revoked: isoTime(now) }, disabled: true }
}

function isRevoked({ metadata }: KeyEntry): boolean {
  return metadata['revoked'] !== undefined
}

function withoutDisabled({ disabled: _disabled, ...entry }: KeyEntry): KeyEntry {
  return entry
}

/** Whether an entry is a key of that name: the current one, or one that was rotated. */
function isKeyOf(entry: string, name: string): boolean {
  return entry === name || isOldKeyOf(entry, name)
}

function isOldKeyOf(entry: string, name: string): boolean {
  return entry.startsWith(`${name}~`)
}

function list({ file, isJson, now }: KeyChange, io: Io): number {
  const rows = [...readKeys(file)].map(([name, entry]) => {
    const [prefix, team, owner, created] = COLUMNS.map((column) => textIn(entry, column))
    return { name, state: stateOf(entry, now), prefix, team, owner, created, expires: entry.expires ?? null }
  })
  if (isJson) io.stdout.write(`${JSON.stringify(rows)}\n`)
  else io.stdout.write(tableText(rows.map((row) => Object.values(row).map((cell) => printable(cell ?? '-')))))
  return exitCode.fine
}

/** The metadata that the list shows. */
const COLUMNS = ['prefix', 'team', 'owner', 'created']

function textIn({ metadata }: KeyEntry, name: string): string | null {
  const found = metadata[name]
  return typeof found === 'string' ? found : null
}

/** Columns of equal width, under their names. */
function tableText(rows: readonly (readonly string[])[]): string {
  const all = [['NAME', 'STATE', 'PREFIX', 'TEAM', 'OWNER', 'CREATED', 'EXPIRES'], ...rows]
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? []
  const lineOf = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return all.map((row) => `${lineOf(row).trimEnd()}\n`).join('')
}

function stateOf(entry: KeyEntry, now: number): 'active' | 'disabled' | 'expired' | 'revoked' {
  if (isRevoked(entry)) return 'revoked'
  if (entry.disabled === true) return 'disabled'
  return entry.expires !== undefined && Date.parse(entry.expires) <= now ? 'expired' : 'active'
}

function readMoment(text: string, now: number): number {
  const moment = momentOf(text, now)
  if (Number.isNaN(moment)) throw new KeyFileProblem(`found the time ${text}, expected 90d, 24h, 30m, 10s or RFC 3339`)
  return moment
}

function isoTime(moment: number): string {
  return new Date(Math.floor(moment / 1000) * 1000).toISOString().replace('.000Z', 'Z')
}

function nearest(keys: KeyEntries): string {
  const names = [...keys].flatMap(([name, entry]) => (name.includes('~') || isRevoked(entry) ? [] : [name]))
  return names.length === 0 ? '' : `; there are ${names.slice(0, 10).join(', ')}`
}
