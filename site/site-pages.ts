import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HOME, PAGE_GROUPS, type PageEntry } from './pages.ts'

/** The pages of the list as they stand in the tree. */

export const root = fileURLToPath(new URL('..', import.meta.url))

export interface SitePage {
  /** From the root of the project. */
  path: string
  title: string
  /** Path on the site, without an extension; ends with a slash where it is the page of a folder. */
  address: string
  about: string
  /** Pages of a folder, when this page stands for the folder. */
  children: readonly SitePage[]
}

export interface SiteGroup {
  title: string
  /** The result for a newcomer who reads the pages in order; null when the order has no meaning. */
  path: string | null
  pages: readonly SitePage[]
}

export function siteGroups(): SiteGroup[] {
  return PAGE_GROUPS.map(({ title, path = null, entries }) => ({
    title,
    path,
    pages: entries.map((entry) => (entry.path.endsWith('.md') ? sitePage(entry) : folderPage(entry))),
  }))
}

/** All pages of the site, the first page included. */
export function allPages(): SitePage[] {
  const listed = siteGroups().flatMap(({ pages }) => pages)
  return [
    sitePage({ path: HOME, about: 'what Portico is, and where to start' }),
    ...listed.flatMap((page) => [page, ...page.children]),
  ]
}

/** The address of a page: `docs/` is the root of the site, a README is the page of its folder. */
export function addressOf(path: string): string {
  const address = path.replace(/^docs\//, '').replace(/\.md$/, '')
  if (!address.includes('/') && !path.startsWith('docs/')) return `project/${address.toLowerCase()}`
  return address === 'README' ? '' : address.replace(/\/README$/, '/')
}

function folderPage({ path: folder, about }: PageEntry): SitePage {
  const readme = `${folder}/README.md`
  const others = globSync(`${folder}/*.md`, { cwd: root }).filter((path) => path !== readme)
  return {
    ...sitePage({ path: readme, about }),
    children: others.toSorted().map((path) => sitePage({ path, about: '' })),
  }
}

function sitePage({ path, about }: PageEntry): SitePage {
  const file = join(root, path)
  if (!existsSync(file) || !statSync(file).isFile()) throw new Error(`site/pages.ts lists ${path}, which is not there`)
  return { path, title: titleOf(readFileSync(file, 'utf8'), path), address: addressOf(path), about, children: [] }
}

/** The first heading, without Markdown. */
function titleOf(markdown: string, path: string): string {
  const heading = /^# (.+)$/m.exec(markdown)?.[1]
  if (heading === undefined) throw new Error(`${path} has no heading`)
  return heading.replaceAll('`', '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
}
