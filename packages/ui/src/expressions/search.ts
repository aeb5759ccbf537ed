/** What the address of the page holds. Variables that were written stay out of it: they may be secrets. */
export interface ExpressionsSearch {
  expression?: string
  /** The recorded request that it is tried on. */
  id?: string
  /** Where the expression is to stand. */
  phase?: string
}

/** Addresses are written by anyone: what does not fit is left out. */
export function readExpressionsSearch({ expression, id, phase }: Record<string, unknown>): ExpressionsSearch {
  const written = textOf(expression)
  return {
    ...(written !== '' && { expression: written }),
    ...((typeof id === 'string' || typeof id === 'number') && { id: String(id) }),
    ...(typeof phase === 'string' && { phase }),
  }
}

/** The router reads `true`, `5` and `[1]` as JSON; here they are expressions. */
function textOf(expression: unknown): string {
  if (expression === undefined) return ''
  const text = typeof expression === 'string' ? expression : JSON.stringify(expression)
  // As fields for text have it, so that columns and offsets hold there.
  return text.replaceAll(/\r\n?/g, '\n')
}
