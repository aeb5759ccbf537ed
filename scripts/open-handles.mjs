// Fails a process whose tests have left something open: a server, a socket, a timer, a program that still runs.
import { isMainThread } from 'node:worker_threads'

/** What was closed a moment ago may need a turn or two to be gone, and a loaded machine is slow to take them. */
const PATIENCE_MS = 20_000

// Threads that a test starts load this too, and have no tests.
if (isMainThread) {
  const { after } = await import('node:test')
  after(() => setTimeout(complain, PATIENCE_MS).unref())
}

function complain() {
  const counts = Object.entries(Object.groupBy(process.getActiveResourcesInfo(), (type) => type))
  const open = counts.map(([type, { length }]) => `${length} ${type}`).join(', ')
  process.stderr.write(`tests are over, and something is still open: ${open}\n`)
  process.exit(1)
}
