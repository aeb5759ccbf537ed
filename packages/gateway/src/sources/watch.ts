import { createHash } from 'node:crypto'
import { readFileSync, watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { dirname, join } from 'node:path'

export interface WatchOptions {
  /** Quiet time after the config was written in place before the change counts, so that half-written text settles. */
  quietMs?: number
  /** The same for files that it names: a certificate comes with its key. */
  namedQuietMs?: number
  /** Longest time that changes without a pause, or a text that looks unfinished, can put it off. */
  maxWaitMs?: number
}

export interface ConfigWatch {
  /** Watches these files too from now on, and none but these. */
  update(named: readonly string[]): void
  close(): void
}

/** What came by a rename is whole; this long it is watched for writes that would show that it was made in place. */
const RENAMED_MS = 2

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
  const { quietMs = 20, namedQuietMs = 100, maxWaitMs = 400 } = options
  const watchersByFolder = new Map<string, FSWatcher>()
  let hashesByNamed = new Map<string, string>()
  let seen = describe(textOf(config))
  let timer: NodeJS.Timeout | null = null
  let firstEventAt = 0
  let quiet = 0
  let closed = false

  function update(named: readonly string[]): void {
    const folders = new Set([config, ...named].map((file) => dirname(file)))
    for (const [folder, watcher] of watchersByFolder) {
      if (folders.has(folder)) continue
      watcher.close()
      watchersByFolder.delete(folder)
    }
    for (const folder of folders) watchFolder(folder)
    // What was known stays known: a change between a reload and this call must still be noticed.
    hashesByNamed = new Map(named.map((file) => [file, hashesByNamed.get(file) ?? describe(textOf(file)).hash]))
  }

  function watchFolder(folder: string): void {
    if (closed || watchersByFolder.has(folder)) return
    try {
      const watcher = watch(folder, { persistent: false }, (event, name) => {
        const wait = waitFor(event, folder, name)
        if (wait !== null) notice(wait)
      })
      watchersByFolder.set(folder, watcher)
      // A folder that goes away ends its watch; it is taken up again with the next look.
      watcher.on('error', () => drop(folder))
      watcher.on('close', () => watchersByFolder.delete(folder))
    } catch {
      // The folder does not exist yet; a look at the files tells the same.
    }
  }

  /** How long to wait after the event; null when it is about files of others. */
  function waitFor(event: string, folder: string, name: string | null): number | null {
    const whole = event === 'rename' ? RENAMED_MS : quietMs
    if (name === null) return quietMs
    // Kubernetes changes files by swapping a link whose name starts with two dots.
    if (name.startsWith('..')) return whole
    const file = join(folder, name)
    if (file === config) return whole
    return hashesByNamed.has(file) ? namedQuietMs : null
  }

  function drop(folder: string): void {
    watchersByFolder.get(folder)?.close()
    watchersByFolder.delete(folder)
    notice(quietMs)
  }

  function notice(wait: number): void {
    if (closed) return
    const now = performance.now()
    if (timer === null) [firstEventAt, quiet] = [now, wait]
    else quiet = Math.max(quiet, wait)
    lookIn(Math.min(quiet, firstEventAt + maxWaitMs - now))
  }

  function lookIn(milliseconds: number): void {
    if (timer !== null) clearTimeout(timer)
    timer = setTimeout(settled, Math.max(0, milliseconds))
    timer.unref()
  }

  function settled(): void {
    const left = firstEventAt + maxWaitMs - performance.now()
    const text = textOf(config)
    // Whoever replaces a file in two steps, or is slow to write it, will go on.
    if (left > 0 && isUnfinished(text)) return lookIn(left)
    timer = null
    look(text)
  }

  function isUnfinished(text: string | null): boolean {
    return text === null || text === '' || (seen.endsLine && !text.endsWith('\n'))
  }

  function look(text: string | null): void {
    const current = describe(text)
    let changed = current.hash !== seen.hash
    seen = current
    for (const [file, hash] of hashesByNamed) {
      const next = describe(textOf(file)).hash
      if (next === hash) continue
      hashesByNamed.set(file, next)
      changed = true
    }
    for (const file of [config, ...hashesByNamed.keys()]) watchFolder(dirname(file))
    if (changed) onChange(text)
  }

  update([])
  // Links may lead to other folders, and some file systems report nothing: a slow look finds those changes.
  const patrol = setInterval(() => {
    if (timer === null) notice(quietMs)
  }, 5_000)
  patrol.unref()

  return {
    update,
    close() {
      closed = true
      clearInterval(patrol)
      if (timer !== null) clearTimeout(timer)
      for (const watcher of watchersByFolder.values()) watcher.close()
      watchersByFolder.clear()
    },
  }
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

function describe(text: string | null): { hash: string; endsLine: boolean } {
  if (text === null) return { hash: 'unreadable', endsLine: false }
  return { hash: createHash('sha256').update(text).digest('base64'), endsLine: text.endsWith('\n') }
}
