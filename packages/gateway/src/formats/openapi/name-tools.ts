/** What names an operation. */
export interface NamedOperation {
  operationId: string | null
  /** In small letters. */
  method: string
  path: string
}

/**
 * A name for each operation, in their order, fit for every client and model: at most 64 letters, digits, `_` and `-`.
 * It hangs on the operation, not on where it stands: only two that would have the same name make each other longer.
 */
export function nameTools(operations: readonly NamedOperation[]): string[] {
  const ids = countOf(operations.flatMap(({ operationId }) => operationId ?? []))
  // An id that stands twice names nothing.
  const sources = operations.map(({ operationId, method, path }) =>
    operationId !== null && ids.get(operationId) === 1
      ? { text: operationId, isOwn: FIT.test(operationId) }
      : { text: `${method}${path}`, isOwn: false },
  )
  const plain = sources.map(({ text, isOwn }) => (isOwn ? text : fitted(text)))
  const counts = countOf(plain)
  const isFinal = (index: number): boolean =>
    sources[index]?.isOwn === true || (counts.get(plain[index] ?? '') === 1 && FIT.test(plain[index] ?? ''))
  const taken = new Set(plain.filter((_, index) => isFinal(index)))
  return operations.map(({ method, path }, index) => {
    const name = plain[index] ?? ''
    if (isFinal(index)) return name
    // Somebody may have named an operation as another's name is made.
    for (let round = 0; ; round++) {
      const marked = withHash(name, `${method} ${path} ${round}`)
      if (taken.has(marked)) continue
      taken.add(marked)
      return marked
    }
  })
}

function fitted(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]+/g, '_').replaceAll(/^_+|_+$/g, '')
}

function withHash(name: string, source: string): string {
  const hash = hashOf(source)
  return `${name.slice(0, LONGEST - hash.length - 1)}_${hash}`
}

/** FNV-1a: nobody gains by two names with one hash, and browsers have no other that does not wait. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}

function countOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return counts
}

const LONGEST = 64
const FIT = /^[A-Za-z0-9_-]{1,64}$/
