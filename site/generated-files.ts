import { withPageTables } from './home-tables.ts'
import { HOME } from './pages.ts'

/** Files of docs/ that are made from the list of pages, by path. */
export function generatedFiles(read: (path: string) => string): Map<string, string> {
  return new Map([[HOME, withPageTables(read(HOME))]])
}
