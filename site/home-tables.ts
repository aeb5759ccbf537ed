import { posix } from 'node:path'
import { HOME } from './pages.ts'
import { siteGroups, type SiteGroup, type SitePage } from './site-pages.ts'

/** The paths and tables of docs/README.md, each between two comments. */

export function withPageTables(markdown: string): string {
  const { paths = [], others = [] } = Object.groupBy(siteGroups(), ({ path }) => (path === null ? 'others' : 'paths'))
  return fill(fill(markdown, 'paths', paths.map(pathText)), 'pages', others.map(tableText))
}

function fill(markdown: string, name: string, texts: readonly string[]): string {
  const begin = `<!-- ${name}: written by \`npm run generate\` from site/pages.ts -->`
  const end = `<!-- end of ${name} -->`
  const [before, rest] = markdown.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`${HOME} has no place for the ${name}`)
  return `${before}${begin}\n\n${texts.join('\n')}\n${end}${after}`
}

function pathText({ title, path, pages }: SiteGroup): string {
  const steps = pages.map((page, index) => `${index + 1}. [${page.title}](${linkTo(page)}): ${page.about}`)
  return `### ${title}\n\n${path}.\n\n${steps.join('\n')}\n`
}

function tableText({ title, pages }: SiteGroup): string {
  const rows = pages.map((page) => `| [${page.title}](${linkTo(page)}) | ${page.about} |`)
  return `### ${title}\n\n| Page | Contents |\n|---|---|\n${rows.join('\n')}\n`
}

function linkTo({ path }: SitePage): string {
  return posix.relative(posix.dirname(HOME), path)
}
