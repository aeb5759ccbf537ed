import type { HeaderBlock, Sink, Source } from '@portico/http'

/** Returns all bytes of a body that is already in memory; steps with `requestBody: 'whole'` get only such bodies. */
export function takeWhole(body: Source): { bytes: Buffer; trailers: HeaderBlock | null } {
  const chunks: Buffer[] = []
  let ended: { trailers: HeaderBlock | null } | null = null
  const sink: Sink = {
    source: null,
    write: (chunk) => chunks.push(chunk),
    flush: () => true,
    end: (trailers) => (ended = { trailers }),
    abort() {},
  }
  body.pipe(sink)
  // The compiler does not see that `pipe` calls `end`.
  const end = ended as { trailers: HeaderBlock | null } | null
  if (end === null) throw new Error('the body is incomplete')
  const [first] = chunks
  return { bytes: first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks), trailers: end.trailers }
}
