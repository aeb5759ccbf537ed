import type { Source } from './body.ts'

/** Reads a whole body; null when it breaks off, with the cause, or is larger than the limit. */
export function collect(body: Source, limit: number, done: (bytes: Buffer | null, cause: Error | null) => void): void {
  const chunks: Buffer[] = []
  let size = 0
  let isOver = false
  const finish = (bytes: Buffer | null, cause: Error | null = null): void => {
    if (isOver) return
    isOver = true
    done(bytes, cause)
  }
  body.pipe({
    source: null,
    write(chunk) {
      size += chunk.length
      // It may be a view of a buffer that the next read fills again.
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
