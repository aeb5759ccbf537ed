import type { RecordedHeaders } from '@portico/gateway/admin-api'

export interface HeadLine {
  name: string
  value: string
  /** What policies did to it. */
  fate: 'same' | 'gone' | 'added'
}

/** The lines of a head as it came, with what became of each; those that came to it stand beside their namesakes. */
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
