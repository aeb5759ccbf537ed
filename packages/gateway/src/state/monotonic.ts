import { performance } from 'node:perf_hooks'

/** What `performance.now`, which begins with its thread, is behind the clock that all threads have in common. */
const behind = leastUnsure(5)

/** Milliseconds since some point before the process: never back, and the same in all threads, but for a microsecond or two. */
export function monotonic(): number {
  // Half of what `process.hrtime.bigint` takes, and a request asks several times.
  return performance.now() + behind
}

/** The clocks are read one after the other: the look that took the least time is off by the least. */
function leastUnsure(looks: number): number {
  let best = { took: Infinity, behind: 0 }
  for (let look = 0; look < looks; look++) {
    const before = performance.now()
    const common = Number(process.hrtime.bigint()) / 1e6
    const took = performance.now() - before
    if (took < best.took) best = { took, behind: common - before - took / 2 }
  }
  return best.behind
}
