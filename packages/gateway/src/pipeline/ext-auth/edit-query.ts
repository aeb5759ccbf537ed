import type { QueryEdit } from './decision.ts'

/** Sets and removes query parameters; other parameters keep their bytes. Returns null when there is nothing to change. */
export function editQuery(target: string, { set, removed }: QueryEdit): string | null {
  if (set.length === 0 && removed.length === 0) return null
  const at = target.indexOf('?')
  const path = at === -1 ? target : target.slice(0, at)
  const gone = new Set([...removed, ...set.map(({ key }) => key)])
  const kept = (at === -1 ? '' : target.slice(at + 1))
    .split('&')
    .filter((part) => part !== '' && !gone.has(nameOf(part)))
  const added = set.map(({ key, value }) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`)
  const query = [...kept, ...added].join('&')
  return query === '' ? path : `${path}?${query}`
}

function nameOf(part: string): string {
  const name = part.split('=', 1)[0] ?? ''
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return name
  }
}
