/** Joins expressions by an operator, each in parentheses. Leaves out constants that do not change the result. */
export function joined(parts: readonly string[], operator: '&&' | '||'): string {
  const [neutral, deciding] = operator === '&&' ? ['true', 'false'] : ['false', 'true']
  if (parts.includes(deciding)) return deciding
  const found = [...new Set(parts)].filter((part) => part !== neutral)
  const [first] = found
  if (first === undefined) return neutral
  return found.length === 1 ? first : found.map((part) => `(${part})`).join(` ${operator} `)
}

/** Returns the negation of an expression. */
export function negated(expression: string): string {
  if (expression === 'true' || expression === 'false') return String(expression === 'false')
  return `!(${expression})`
}
