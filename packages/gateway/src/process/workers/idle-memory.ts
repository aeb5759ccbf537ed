import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const LOOK_MS = 1_000
/** Below this share of a second spent on work, a thread has nothing to do. */
const IDLE_SHARE = 0.05
/**
 * How long a thread must be idle. After a start, much memory is freed at once. After work, load may return soon, and then
 * code is optimized again: the first seconds cost 10 % more CPU, 33 % with HTTP/2.
 */
const IDLE_MS = { afterStart: LOOK_MS, afterWork: 7 * LOOK_MS }
/** The time after its start in which a thread counts as just started. */
const START_MS = 10 * LOOK_MS
/** Threads that fall idle together do not all pause at once. */
const TURNS = 3
/** Heaps smaller than this are not worth the pause. */
const WORTH_BYTES = 4 * 1024 * 1024

export interface IdleMemoryOptions {
  /** The share of the time since the last call that the thread was at work. */
  busyShare: () => number
  heapBytes: () => number
  /** Releases memory; returns false when that is not possible now. */
  release: () => boolean
  /** The number of the thread. */
  number: number
}

/** Releases memory of an idle thread: V8 keeps the memory of a burst of work. */
export class IdleMemory {
  readonly #options: IdleMemoryOptions
  #idleMs = 0
  #keptBytes = 0
  #ageMs = 0
  #isTidy = false

  constructor(options: IdleMemoryOptions) {
    this.#options = options
  }

  /** Called once a second. */
  look(): void {
    const { busyShare, heapBytes, release, number } = this.#options
    this.#idleMs = busyShare() < IDLE_SHARE ? this.#idleMs + LOOK_MS : 0
    this.#ageMs += LOOK_MS
    const isNew = !this.#isTidy && this.#ageMs <= START_MS
    const waitMs = isNew ? IDLE_MS.afterStart : IDLE_MS.afterWork + (number % TURNS) * LOOK_MS
    if (this.#idleMs < waitMs) return
    if (heapBytes() < this.#keptBytes + WORTH_BYTES) return
    if (!release()) return
    this.#isTidy = true
    this.#idleMs = 0
    this.#keptBytes = heapBytes()
  }
}

/** Watches the calling thread, which has this number, for its whole life. */
export function releaseMemoryWhenIdle(number = 0): void {
  let before = performance.eventLoopUtilization()
  const memory = new IdleMemory({
    busyShare() {
      const now = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(now, before)
      before = now
      return utilization
    },
    heapBytes: () => getHeapStatistics().total_heap_size,
    release: releaseMemory,
    number,
  })
  setInterval(() => memory.look(), LOOK_MS).unref()
}

/**
 * Runs the last-resort garbage collection, the only one that returns the young generation to the system; compiled code
 * stays. Returns false when another thread reset the V8 flag meanwhile, since flags belong to the process.
 */
export function releaseMemory(): boolean {
  setFlagsFromString('--expose-gc')
  setFlagsFromString('--no-flush-bytecode')
  try {
    const collect = runInNewContext('globalThis.gc') as ((options: object) => void) | undefined
    collect?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    return collect !== undefined
  } finally {
    setFlagsFromString('--flush-bytecode')
    setFlagsFromString('--no-expose-gc')
  }
}
