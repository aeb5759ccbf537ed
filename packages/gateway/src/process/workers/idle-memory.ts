import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { threadId } from 'node:worker_threads'

const LOOK_MS = 1_000
/** Below this share of a second spent on work, a thread has nothing to do. */
const IDLE_SHARE = 0.05
/**
 * After a start much is to be gained at once. After work it may be back soon, takes it all again, and some code is optimised
 * anew: the first seconds cost a tenth more, of HTTP/2 a third.
 */
const IDLE_MS = { afterStart: LOOK_MS, afterWork: 7 * LOOK_MS }
/** For so long a thread counts as one that has just started. */
const START_MS = 10 * LOOK_MS
/** Threads that fall idle together do not all pause at once. */
const TURNS = 3
/** Less is not worth the pause. */
const WORTH_BYTES = 4 * 1024 * 1024

export interface IdleMemoryOptions {
  /** The share of the time since the last call that the thread was at work. */
  busyShare: () => number
  heapBytes: () => number
  /** Whether that could be done now. */
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

/** Watches the thread it is called in, for as long as that lives. */
export function releaseMemoryWhenIdle(): void {
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
    number: threadId,
  })
  setInterval(() => memory.look(), LOOK_MS).unref()
}

/**
 * The only collection that gives young space back is the last before V8 gives up; what is compiled stays as it is. False when
 * another thread, which does the same, took the flag away in that moment: flags are those of the process.
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
