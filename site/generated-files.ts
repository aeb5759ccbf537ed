import { drawDiagram } from './diagram.ts'
import { withPageTables } from './home-tables.ts'
import { HOME } from './pages.ts'

/** Files of docs/ that are made from the list of pages and from the texts of pictures, by path. */
export function generatedFiles(read: (path: string) => string, diagrams: readonly string[]): Map<string, string> {
  const pictures = diagrams.map((path) => [pictureOf(path), drawDiagram(read(path))] as const)
  return new Map([[HOME, withPageTables(read(HOME))], ...pictures])
}

/** `docs/diagrams/x.txt` is drawn into `docs/images/diagram-x.svg`. */
function pictureOf(path: string): string {
  return path.replace('docs/diagrams/', 'docs/images/diagram-').replace(/\.txt$/, '.svg')
}
