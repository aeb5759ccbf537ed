/** The parts of an operation that its tool name is derived from. */
export interface NamedOperation {
  operationId: string | null
  /** Lower case. */
  method: string
  path: string
}

/**
 * Returns a name for each operation, in order, valid for every client and model: at most 64 letters, digits, `_` and
 * `-`. The name depends on the operation, not on its position in the document: only operations whose names collide get
 * a longer name.
 */
export function nameTools(operations: readonly NamedOperation[]): string[] {
  const ids = countOf(operations.flatMap(({ operationId }) => operationId ?? []))
  // A duplicate `operationId` is not used as a name.
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
    // An operation may already have the name that is generated for another operation.
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

/** FNV-1a: a collision gives nobody an advantage, and browsers have no other synchronous hash. */
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
