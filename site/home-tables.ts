import { posix } from 'node:path'
import { HOME } from './pages.ts'
import { siteGroups, type SitePage } from './site-pages.ts'

/** The tables of docs/README.md, written between two comments. */

const BEGIN = '<!-- pages: written by `npm run generate` from site/pages.ts -->'
const END = '<!-- end of pages -->'

export function withPageTables(markdown: string): string {
  const [before, rest] = markdown.split(BEGIN)
  const after = rest?.split(END)[1]
  if (before === undefined || after === undefined) throw new Error(`${HOME} has no place for the tables of pages`)
  const tables = siteGroups().map(({ title, pages }) => {
    const rows = pages.map((page) => `| [${page.title}](${linkTo(page)}) | ${page.about} |`)
    return `### ${title}\n\n| Page | Contents |\n|---|---|\n${rows.join('\n')}\n`
  })
  return `${before}${BEGIN}\n\n${tables.join('\n')}\n${END}${after}`
}

function linkTo({ path }: SitePage): string {
  return posix.relative(posix.dirname(HOME), path)
}
