import type { Server } from 'node:net'

/**
 * Accepts the connections that the kernel has queued, then closes the server. The kernel's queue is read once per turn
 * of the event loop, so after a turn without a new connection the queue is empty, except for connections that arrived
 * since that read: the shorter the turn, the fewer.
 */
export function closeOnceQuiet(server: Server, accepted: () => number): Promise<void> {
  letFewQueue(server)
  return new Promise((resolve) => {
    let turns = 0
    const begin = (): void => {
      const [before, startedAt] = [accepted(), performance.now()]
      setImmediate(() => {
        const isQuiet = accepted() === before && performance.now() - startedAt < SHORT_TURN_MS
        if (!isQuiet && ++turns < MAX_LAST_TURNS) return void setTimeout(begin, 0)
        server.close()
        resolve()
      })
    }
    // Starts from a timer, because the queue is read next in the same turn.
    setTimeout(begin, 0)
  })
}

/**
 * From here on, the kernel completes hardly any connection that is not accepted yet: clients retry, and are refused.
 */
function letFewQueue(server: Server): void {
  const holder = server as Server & { _handle?: { listen?(backlog: number): number } | null }
  holder._handle?.listen?.(0)
}

/** A server that never gets quiet closes after this many turns. */
const MAX_LAST_TURNS = 1_000
const SHORT_TURN_MS = 0.3
