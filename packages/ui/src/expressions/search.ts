/** The state of the page, as its address holds it. Variables stay out of the address: they may be secrets. */
interface ExpressionsSearch {
  expression?: string
  /** The recorded request that is the input. */
  id?: string
  /** The phase of the expression. */
  phase?: string
}

/** Anyone can write an address: invalid values are dropped. */
export function readExpressionsSearch({ expression, id, phase }: Record<string, unknown>): ExpressionsSearch {
  const written = expressionText(expression)
  return {
    ...(written !== '' && { expression: written }),
    ...((typeof id === 'string' || typeof id === 'number') && { id: String(id) }),
    ...(typeof phase === 'string' && { phase }),
  }
}

/** The router reads `true`, `5` and `[1]` as JSON; here they are expressions. */
function expressionText(expression: unknown): string {
  if (expression === undefined) return ''
  const text = typeof expression === 'string' ? expression : JSON.stringify(expression)
  // Text fields have `\n` line ends, so that columns and offsets are the same there.
  return text.replaceAll(/\r\n?/g, '\n')
}
