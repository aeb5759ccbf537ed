import type { PagePath } from './pages.ts'
import type { RequestsSearch } from '../requests/search.ts'

export interface PaletteEntry {
  /** What it is, in a word. */
  kind: string
  name: string
  /** Tells it from others of that name. */
  where?: string
  /** It comes from the config or from traffic. */
  isMono: boolean
  action:
    | { kind: 'page'; to: PagePath }
    | { kind: 'route'; key: string }
    | { kind: 'requests'; search: RequestsSearch }
    | { kind: 'model'; route: string; model: string }
    | { kind: 'tool'; route: string; tool: string }
    | { kind: 'do'; run: () => void }
}

/** Those that have every word, the ones that begin with the first word first. An id of a request is one by itself. */
export function findEntries(entries: readonly PaletteEntry[], text: string): PaletteEntry[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const [first = ''] = words
  const found = entries.filter(({ kind, name, where = '' }) => {
    const whole = `${kind} ${name} ${where}`.toLowerCase()
    return words.every((word) => whole.includes(word))
  })
  const starts = ({ name }: PaletteEntry): number => (name.toLowerCase().startsWith(first) ? 0 : 1)
  const request: PaletteEntry[] = REQUEST_ID.test(text.trim())
    ? [{ kind: 'request', name: text.trim(), isMono: true, action: { kind: 'requests', search: { id: text.trim() } } }]
    : []
  return [...request, ...found.toSorted((a, b) => starts(a) - starts(b))].slice(0, MOST)
}

const REQUEST_ID = /^[0-9a-z]{15}$/
const MOST = 12
