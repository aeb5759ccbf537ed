import { setTimeout as wait } from 'node:timers/promises'

const PATIENCE_MS = 20_000

/** Waits until the condition holds; a timeout fails with `what`. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const limit = performance.now() + PATIENCE_MS
  while (!(await holds())) {
    if (performance.now() > limit) throw new Error(`never happened: ${what}`)
    await wait(5)
  }
}
