import type { RecordedHeaders } from '@portico/gateway/admin-api'

export interface HeadLine {
  name: string
  value: string
  /** The effect of policies on the line. */
  fate: 'same' | 'gone' | 'added'
}

/** The header lines before and after policies. A line that policies added follows the lines of the same name. */
export function changedLines(came: RecordedHeaders, left: RecordedHeaders): HeadLine[] {
  const names = [...new Set([...Object.keys(came), ...Object.keys(left)])]
  return names.flatMap((name) => {
    const before = valuesOf(came, name)
    const after = valuesOf(left, name)
    const kept = common(before, after)
    return [
      ...marked(name, before, kept, 'gone'),
      ...marked(name, after, kept, 'added').filter(({ fate }) => fate === 'added'),
    ]
  })
}

function valuesOf(headers: RecordedHeaders, name: string): readonly string[] {
  const found = Object.hasOwn(headers, name) ? headers[name] : undefined
  if (found === undefined) return []
  return typeof found === 'string' ? [found] : found
}

/** Values that are in both, each as often as in both. */
function common(one: readonly string[], other: readonly string[]): string[] {
  const left = [...other]
  return one.filter((value) => {
    const at = left.indexOf(value)
    if (at !== -1) left.splice(at, 1)
    return at !== -1
  })
}

function marked(
  name: string,
  values: readonly string[],
  kept: readonly string[],
  otherwise: HeadLine['fate'],
): HeadLine[] {
  const left = [...kept]
  return values.map((value) => {
    const at = left.indexOf(value)
    if (at !== -1) left.splice(at, 1)
    return { name, value, fate: at === -1 ? otherwise : 'same' }
  })
}
