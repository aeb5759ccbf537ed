/** Milliseconds since some point before the process: never back, and the same in all threads, unlike `performance.now`. */
export function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
