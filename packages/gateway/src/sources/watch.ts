import { createHash } from 'node:crypto'
import { readFileSync, watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { dirname, join } from 'node:path'

export interface WatchOptions {
  /** Quiet time after a change before it counts, so that half-written files settle. */
  debounceMs?: number
  /** Longest time that changes without a pause can put it off. */
  maxWaitMs?: number
}

export interface FileWatch {
  /** Watches these files from now on. */
  update(files: readonly string[]): void
  close(): void
}

/**
 * Calls `onChange` when the contents of a file change. Folders are watched, not files: editors replace files, and
 * Kubernetes swaps a link in the folder, both of which a watch on the file itself would lose.
 */
export function watchFiles(files: readonly string[], onChange: () => void, options: WatchOptions = {}): FileWatch {
  const { debounceMs = 100, maxWaitMs = 400 } = options
  const watchersByFolder = new Map<string, FSWatcher>()
  let hashesByFile = new Map<string, string>()
  let timer: NodeJS.Timeout | null = null
  let firstEventAt = 0
  let closed = false

  function update(next: readonly string[]): void {
    const folders = new Set(next.map((file) => dirname(file)))
    for (const [folder, watcher] of watchersByFolder) {
      if (folders.has(folder)) continue
      watcher.close()
      watchersByFolder.delete(folder)
    }
    for (const folder of folders) watchFolder(folder)
    // What was known stays known: a change between a reload and this call must still be noticed.
    hashesByFile = new Map(next.map((file) => [file, hashesByFile.get(file) ?? hashOf(file)]))
  }

  function watchFolder(folder: string): void {
    if (closed || watchersByFolder.has(folder)) return
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (concerns(folder, name)) notice()
      })
      watchersByFolder.set(folder, watcher)
      // A folder that goes away ends its watch; it is taken up again with the next look.
      watcher.on('error', () => drop(folder))
      watcher.on('close', () => watchersByFolder.delete(folder))
    } catch {
      // The folder does not exist yet; a look at the files tells the same.
    }
  }

  /** A folder may be busy with files of others. Kubernetes changes files by swapping a link whose name starts with two dots. */
  function concerns(folder: string, name: string | null): boolean {
    return name === null || name.startsWith('..') || hashesByFile.has(join(folder, name))
  }

  function drop(folder: string): void {
    watchersByFolder.get(folder)?.close()
    watchersByFolder.delete(folder)
    notice()
  }

  function notice(): void {
    if (closed) return
    const now = performance.now()
    if (timer === null) firstEventAt = now
    else clearTimeout(timer)
    timer = setTimeout(look, Math.max(0, Math.min(debounceMs, firstEventAt + maxWaitMs - now)))
    timer.unref()
  }

  function look(): void {
    timer = null
    let changed = false
    for (const [file, hash] of hashesByFile) {
      watchFolder(dirname(file))
      const current = hashOf(file)
      if (current === hash) continue
      hashesByFile.set(file, current)
      changed = true
    }
    if (changed) onChange()
  }

  update(files)
  // Links may lead to other folders, and some file systems report nothing: a slow look finds those changes.
  const patrol = setInterval(look, 5_000)
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

function hashOf(file: string): string {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('base64')
  } catch {
    return 'unreadable'
  }
}
