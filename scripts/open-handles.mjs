// Fails a process whose tests have left something open: a server, a socket, a timer, a program that still runs.
import { after } from 'node:test'

/** What was closed a moment ago may need a turn or two to be gone, and a loaded machine is slow to take them. */
const PATIENCE_MS = 20_000

after(() => setTimeout(complain, PATIENCE_MS).unref())

function complain() {
  const counts = Object.entries(Object.groupBy(process.getActiveResourcesInfo(), (type) => type))
  const open = counts.map(([type, { length }]) => `${length} ${type}`).join(', ')
  process.stderr.write(`tests are over, and something is still open: ${open}\n`)
  process.exit(1)
}
