import type { Server } from 'node:net'

/**
 * Accepts whoever the kernel has queued, then closes. The kernel is asked once per turn of the event loop, so a turn
 * without a newcomer leaves nobody behind, but for who came since it was asked: the shorter the turn, the fewer.
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
    // From a timer, whose turn asks the kernel next.
    setTimeout(begin, 0)
  })
}

/** From here on the kernel completes hardly any connection that is not accepted yet: clients try again, and are refused. */
function letFewQueue(server: Server): void {
  const holder = server as Server & { _handle?: { listen?(backlog: number): number } | null }
  holder._handle?.listen?.(0)
}

/** A port that everybody knocks at closes all the same. */
const MAX_LAST_TURNS = 1_000
const SHORT_TURN_MS = 0.3
