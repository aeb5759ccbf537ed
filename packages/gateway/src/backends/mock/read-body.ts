import type { Source } from '@portico/http'

/** The whole body; null when it breaks off or is larger than the limit. */
export function readBody(body: Source, limit: number, done: (bytes: Buffer | null) => void): void {
  const chunks: Buffer[] = []
  let size = 0
  body.pipe({
    source: null,
    write(chunk) {
      size += chunk.length
      // The chunk may be a view of a buffer that the next read overwrites.
      if (size <= limit) chunks.push(Buffer.from(chunk))
    },
    flush: () => true,
    end: () => done(size <= limit ? Buffer.concat(chunks) : null),
    abort: () => done(null),
  })
}
