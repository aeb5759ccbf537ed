import { type FSWatcher, statSync, watch } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { stopOnSignals } from '../signals.ts'

/** Yields after each change below the folders of the operands, until a signal ends the program. */
export async function* whenChanged(operands: readonly string[]): AsyncGenerator<void> {
  const stop = stopOnSignals()
  const folders = new Set(operands.map((path) => (statSync(path).isDirectory() ? path : dirname(path))))
  let wake: (() => void) | null = null
  let hasChanged = false
  const told = (): void => {
    hasChanged = true
    wake?.()
  }
  stop.signal.addEventListener('abort', told)
  const watchers: FSWatcher[] = [...folders].map((folder) => watch(folder, { recursive: true }, told))
  try {
    while (!stop.signal.aborted) {
      if (!hasChanged) await new Promise<void>((resolve) => (wake = resolve))
      if (stop.signal.aborted) return
      // Editors write a file in several steps.
      await wait(SETTLE_MS)
      hasChanged = false
      yield
    }
  } finally {
    for (const watcher of watchers) watcher.close()
  }
}

const SETTLE_MS = 100
