import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Buffers of large reads lie outside the heap and are garbage a moment later. Left alone, the runtime sees some 30 MB
 * of them and looks through its whole heap, again and again: half of the CPU that a large body costs. They are young,
 * so collecting what is young frees them, at a small part of that price.
 */
class SpentBuffers {
  #bytes = 0
  /** Looked for when first needed. */
  #collect: Collect | undefined

  /** Told of every buffer that a read has filled. */
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
 * A context made after the flag was set has the function, whoever started the program with whatever flags. Undefined
 * where the runtime has none, or another thread took the flag away in that moment.
 */
function findCollector(): Collect | undefined {
  setFlagsFromString('--expose-gc')
  try {
    return runInNewContext('globalThis.gc') as Collect | undefined
  } finally {
    setFlagsFromString('--no-expose-gc')
  }
}

/** Smaller ones come from a pool or are soon followed by a collection anyway. */
const WORTH_COUNTING = 8192
/** Well below what makes the runtime begin with its whole heap. */
const EACH_BYTES = 8_000_000

/** Of this thread. */
export const spentBuffers = new SpentBuffers()
