// Fails a process whose tests left something open: a server, a socket, a timer, a running program.

/** Closed handles may need a few turns to disappear, and a loaded machine is slow. */
const PATIENCE_MS = 20_000

/** Reports an error when the process is still running some time after the last test, because something keeps it open. */
export function complainOfOpenHandles() {
  setTimeout(complain, PATIENCE_MS).unref()
}

function complain() {
  const counts = Object.entries(Object.groupBy(process.getActiveResourcesInfo(), (type) => type))
  const open = counts.map(([type, { length }]) => `${length} ${type}`).join(', ')
  process.stderr.write(`tests are over, and something is still open: ${open}\n`)
  process.exit(1)
}
