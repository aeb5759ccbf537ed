import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Buffers of large reads are outside the heap and become garbage a moment later. By default, the runtime collects its
 * whole heap after some 30 MB of them, again and again, which is half of the CPU cost of a large body. The buffers are
 * young, so a collection of the young generation frees them at a small part of that cost.
 */
class SpentBuffers {
  #bytes = 0
  /** Created on first use. */
  #collect: Collect | undefined

  /** Called for every buffer that a read has filled. */
  count(bytes: number): void {
    if (bytes < WORTH_COUNTING) return
    this.#bytes += bytes
    if (this.#bytes < EACH_BYTES) return
    this.#bytes = 0
    this.#collect ??= findCollector()
    this.#collect?.({ type: 'minor' })
  }
}

type Collect = (options: { type: 'minor' }) => void

/**
 * Returns the collector. A context created after the flag was set has the function, whatever flags the program was
 * started with. Undefined when the runtime has none, or another thread reset the flag at that moment.
 */
function findCollector(): Collect | undefined {
  setFlagsFromString('--expose-gc')
  try {
    return runInNewContext('globalThis.gc') as Collect | undefined
  } finally {
    setFlagsFromString('--no-expose-gc')
  }
}

/** Smaller buffers come from a pool, or are soon followed by a collection anyway. */
const WORTH_COUNTING = 8192
/** Bytes between collections: well below the amount that makes the runtime collect its whole heap. */
const EACH_BYTES = 8_000_000

/** The instance of this thread. */
export const spentBuffers = new SpentBuffers()
