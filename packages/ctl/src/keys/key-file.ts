import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** A key in the file, in the form that `apiKeyAuthentication` reads. */
export interface KeyEntry {
  readonly keyHash: string
  readonly metadata: Readonly<Record<string, unknown>>
  /** RFC 3339. */
  readonly expires?: string
  readonly disabled?: true
}

export type KeyEntries = ReadonlyMap<string, KeyEntry>

/** A problem of the file, for the person who runs the command. */
export class KeyFileProblem extends Error {}

/** Reads the keys; a file that is missing has none. */
export function readKeys(file: string): KeyEntries {
  let text: string
  try {
    text = fs.readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
    throw new KeyFileProblem(`${file} cannot be read: ${(error as Error).message}`)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = null
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new KeyFileProblem(`${file} does not contain a JSON object of keys`)
  }
  return new Map(Object.entries(value).map(([name, entry]) => [name, entryOf(entry, `${file}: ${name}`)]))
}

function entryOf(entry: unknown, place: string): KeyEntry {
  const { keyHash, metadata = {} } = (typeof entry === 'object' && entry !== null ? entry : {}) as Partial<KeyEntry>
  if (typeof keyHash !== 'string' || typeof metadata !== 'object') {
    throw new KeyFileProblem(`${place} has no \`keyHash\`: this command changes only files of hashes`)
  }
  return { ...(entry as KeyEntry), metadata }
}

/**
 * Replaces the keys by the result of `change`. The new text is written to a temporary file beside the old one, which also
 * locks out other commands: readers see the old text or the new one, and no change is lost.
 */
export function updateKeys(file: string, change: (keys: KeyEntries) => KeyEntries): void {
  // A link to a file stays a link.
  const path = fs.existsSync(file) ? fs.realpathSync(file) : file
  const temporary = join(dirname(path), `.${basename(path)}.new`)
  const handle = openNew(temporary)
  try {
    try {
      const text = `${JSON.stringify(Object.fromEntries(change(readKeys(path))), null, 2)}\n`
      if (fs.existsSync(path)) fs.fchmodSync(handle, fs.statSync(path).mode & 0o7777)
      fs.writeFileSync(handle, text)
      fs.fsyncSync(handle)
    } finally {
      fs.closeSync(handle)
    }
    fs.renameSync(temporary, path)
  } catch (error) {
    fs.rmSync(temporary, { force: true })
    throw error
  }
}

function openNew(temporary: string): number {
  try {
    return fs.openSync(temporary, 'wx', 0o600)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new KeyFileProblem(
      code === 'EEXIST'
        ? `another command changes the file; if none does, remove ${temporary}`
        : `the file cannot be written: ${message}`,
    )
  }
}
