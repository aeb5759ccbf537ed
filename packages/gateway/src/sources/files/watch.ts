import { readFileSync, statSync, watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { dirname, join } from 'node:path'
import { filesBelow, isFolder } from './files-below.ts'

export interface WatchOptions {
  /** Quiet time after the config was written in place before the change counts, so that half-written text settles. */
  quietMs?: number
  /** The same for files that the config names, because a certificate and its key are written one after the other. */
  namedQuietMs?: number
  /** Longest time that changes without a pause, or a text that looks unfinished, can put it off. */
  maxWaitMs?: number
}

export interface ConfigWatch {
  /** Replaces the list of files to watch besides the config. */
  update(named: readonly string[]): void
  /** Announces a text that the caller writes and applies itself, so that it is not reported as a change. */
  expect(text: string): void
  close(): void
}

/** Milliseconds after a rename in which writes are watched: a renamed file is whole, unless a writer continues in place. */
const RENAMED_MS = 2
const PATROL_MS = 5_000

/**
 * Calls `onChange` with the text of the config (null when it cannot be read) once that, or a file that it names, has
 * changed. Folders are watched, not files: editors replace files, and Kubernetes swaps a link in the folder, both of
 * which a watch on the file itself would lose.
 */
export function watchConfig(
  config: string,
  onChange: (text: string | null) => void,
  options: WatchOptions = {},
): ConfigWatch {
  return new FolderWatch(config, onChange, options)
}

class FolderWatch implements ConfigWatch {
  readonly #config: string
  readonly #onChange: (text: string | null) => void
  readonly #quietMs: number
  readonly #namedQuietMs: number
  readonly #maxWaitMs: number
  readonly #watchersByFolder = new Map<string, FSWatcher>()
  readonly #patrol: NodeJS.Timeout
  #textByNamed = new Map<string, string | null>()
  /** The text of the config at the last read, because a hash would load `node:crypto`, which takes more memory; null when it could not be read. */
  #seen: string | null
  /** The stamps of the files at the last read: an unchanged large config is not read every five seconds. */
  #seenStamps = ''
  #timer: NodeJS.Timeout | null = null
  #firstEventAt = 0
  #quiet = 0
  #closed = false

  constructor(config: string, onChange: (text: string | null) => void, options: WatchOptions) {
    this.#config = config
    this.#onChange = onChange
    this.#quietMs = options.quietMs ?? 20
    this.#namedQuietMs = options.namedQuietMs ?? 100
    this.#maxWaitMs = options.maxWaitMs ?? 400
    this.#seen = readOrNull(config)
    this.update([])
    // Links may lead to other folders, and some file systems report nothing: a slow look finds those changes.
    this.#patrol = setInterval(() => {
      if (this.#timer === null && this.#stamps() !== this.#seenStamps) this.#notice(this.#quietMs)
    }, PATROL_MS)
    this.#patrol.unref()
  }

  update(named: readonly string[]): void {
    const folders = new Set([this.#config, ...named].map((file) => dirname(file)))
    if (isFolder(this.#config)) folders.add(this.#config)
    for (const [folder, watcher] of this.#watchersByFolder) {
      if (folders.has(folder)) continue
      watcher.close()
      this.#watchersByFolder.delete(folder)
    }
    for (const folder of folders) this.#watchFolder(folder)
    const known = this.#textByNamed
    // Known texts stay, so that a change between a reload and this call is still noticed.
    this.#textByNamed = new Map(
      named.map((file) => {
        const text = known.get(file)
        return [file, text === undefined ? readOrNull(file) : text]
      }),
    )
  }

  expect(text: string): void {
    this.#seen = text
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#patrol)
    if (this.#timer !== null) clearTimeout(this.#timer)
    for (const watcher of this.#watchersByFolder.values()) watcher.close()
    this.#watchersByFolder.clear()
  }

  #watchFolder(folder: string): void {
    if (this.#closed || this.#watchersByFolder.has(folder)) return
    try {
      const watcher = watch(folder, { persistent: false }, (event, name) => {
        const wait = this.#waitFor(event, folder, name)
        if (wait !== null) this.#notice(wait)
      })
      this.#watchersByFolder.set(folder, watcher)
      // The watch of a removed folder ends; the next poll opens it again.
      watcher.on('error', () => this.#drop(folder))
      watcher.on('close', () => this.#watchersByFolder.delete(folder))
    } catch {
      // The folder does not exist yet; a look at the files tells the same.
    }
  }

  /** How long to wait after the event; null when it is about files of others. */
  #waitFor(event: string, folder: string, name: string | null): number | null {
    const whole = event === 'rename' ? RENAMED_MS : this.#quietMs
    if (name === null) return this.#quietMs
    // Kubernetes changes files by swapping a link whose name starts with two dots.
    if (name.startsWith('..')) return whole
    const file = join(folder, name)
    if (file === this.#config) return whole
    // New and removed files in a folder of manifests are not known by name.
    const isInside = isFolder(this.#config) && file.startsWith(`${this.#config}/`)
    return isInside || this.#textByNamed.has(file) ? this.#namedQuietMs : null
  }

  #drop(folder: string): void {
    this.#watchersByFolder.get(folder)?.close()
    this.#watchersByFolder.delete(folder)
    this.#notice(this.#quietMs)
  }

  #notice(wait: number): void {
    if (this.#closed) return
    const now = performance.now()
    if (this.#timer === null) [this.#firstEventAt, this.#quiet] = [now, wait]
    else this.#quiet = Math.max(this.#quiet, wait)
    this.#lookIn(Math.min(this.#quiet, this.#firstEventAt + this.#maxWaitMs - now))
  }

  #lookIn(milliseconds: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#settled(), Math.max(0, milliseconds))
    this.#timer.unref()
  }

  #settled(): void {
    const left = this.#firstEventAt + this.#maxWaitMs - performance.now()
    const stamps = this.#stamps()
    const text = readOrNull(this.#config)
    // A writer that replaces a file in two steps, or slowly, is not done yet.
    if (left > 0 && this.#isUnfinished(text)) return this.#lookIn(left)
    this.#timer = null
    this.#seenStamps = stamps
    this.#look(text)
  }

  #stamps(): string {
    return [this.#config, ...this.#textByNamed.keys()].map(stampOf).join()
  }

  #isUnfinished(text: string | null): boolean {
    return text === null || text === '' || ((this.#seen?.endsWith('\n') ?? false) && !text.endsWith('\n'))
  }

  #look(text: string | null): void {
    let changed = text !== this.#seen
    this.#seen = text
    for (const [file, before] of this.#textByNamed) {
      const next = readOrNull(file)
      if (next === before) continue
      this.#textByNamed.set(file, next)
      changed = true
    }
    for (const file of [this.#config, ...this.#textByNamed.keys()]) this.#watchFolder(dirname(file))
    if (changed) this.#onChange(text)
  }
}

function stampOf(file: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(file)
    return [ino, size, mtimeMs, ctimeMs].join(' ')
  } catch {
    return 'unreadable'
  }
}

/** The text of a file, or the list of all files below a folder. */
function readOrNull(file: string): string | null {
  try {
    if (isFolder(file)) return filesBelow(file).join('\n') + '\n'
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
