import type { Source } from './body.ts'

/**
 * Reads a whole body. `bytes` is null when the body breaks off, with the cause, or exceeds the limit. When `done` throws, it
 * is called once more with the cause by which the body is then aborted, so that whoever waits for the body gets an answer.
 */
export function collect(body: Source, limit: number, done: (bytes: Buffer | null, cause: Error | null) => void): void {
  const chunks: Buffer[] = []
  let size = 0
  let isOver = false
  const finish = (bytes: Buffer | null, cause: Error | null = null): void => {
    if (isOver) return
    isOver = true
    try {
      done(bytes, cause)
    } catch (error) {
      isOver = cause !== null
      throw error
    }
  }
  body.pipe({
    source: null,
    write(chunk) {
      size += chunk.length
      // The chunk may be a view of a buffer that the next read overwrites.
      if (size <= limit) chunks.push(Buffer.from(chunk))
    },
    flush() {
      if (size <= limit) return true
      body.cancel(TOO_LARGE)
      finish(null)
      return true
    },
    end: () => finish(size <= limit ? Buffer.concat(chunks) : null),
    abort: (cause) => finish(null, cause),
  })
}

const TOO_LARGE = new Error('the body is too large')
