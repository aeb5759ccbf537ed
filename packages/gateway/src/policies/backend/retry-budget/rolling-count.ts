type Words = BigInt64Array<SharedArrayBuffer>

/**
 * The number of events in the last interval, estimated from two windows. A count is two words: one for windows with an
 * even number, and one for windows with an odd number. The high half of a word is the number of its window and the low
 * half the events in it, so every combination of values is valid, even when a thread dies between two writes.
 */
export function rollingCount(words: Words, first: number, now: number, intervalMs: number): number {
  const window = Math.floor(now / intervalMs)
  const passed = now / intervalMs - window
  return countIn(words, first, window) + countIn(words, first, window - 1) * (1 - passed)
}

/** Adds an event to a count. */
export function addTo(words: Words, first: number, now: number, intervalMs: number): void {
  const window = Math.floor(now / intervalMs)
  const at = first + (window % 2)
  for (;;) {
    const before = Atomics.load(words, at)
    // A thread whose time is slightly old must not reset the count of a newer window.
    if (windowOf(before) > window) return
    const events = windowOf(before) === window ? before & LOW_HALF : 0n
    const after = (BigInt(window) << 32n) | (events === LOW_HALF ? events : events + 1n)
    if (Atomics.compareExchange(words, at, before, after) === before) return
  }
}

function countIn(words: Words, first: number, window: number): number {
  if (window < 0) return 0
  const word = Atomics.load(words, first + (window % 2))
  return windowOf(word) === window ? Number(word & LOW_HALF) : 0
}

function windowOf(word: bigint): number {
  return Number(word >> 32n)
}

const LOW_HALF = 0xffff_ffffn
