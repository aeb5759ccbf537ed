import type { PagePath } from './pages.ts'
import type { RequestsSearch } from '../requests/search.ts'

export interface PaletteEntry {
  /** The kind of the entry, as shown. */
  kind: string
  name: string
  /** Distinguishes entries of the same name. */
  where?: string
  /** Whether the name comes from config or traffic, which is shown in monospace. */
  isMono: boolean
  action:
    | { kind: 'page'; to: PagePath }
    | { kind: 'route'; key: string }
    | { kind: 'requests'; search: RequestsSearch }
    | { kind: 'model'; route: string; model: string }
    | { kind: 'tool'; route: string; tool: string }
    | { kind: 'do'; run: () => void }
}

/** The entries that contain every word; names that begin with the first word come first. The id of a request is an entry itself. */
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
