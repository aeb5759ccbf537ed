import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { outsideCode, replaceInlineCode, replaceLinks } from './links.ts'
import { llmsFullText, llmsText } from './llms.ts'
import { HOME } from './pages.ts'
import { allPages, root, siteGroups, type SitePage } from './site-pages.ts'

/** Writes the pages for VitePress: links as the site has them, and the Markdown of every page for programs that read. */

export interface StageOptions {
  /** An empty or absent folder. */
  folder: string
  /** Path of the site on its server, with slashes at both ends. */
  base: string
  /** The address of the tree on a code host (`…/blob/main`); null when files outside of the site get no link. */
  sourceUrl: string | null
  /** The address under which a code host edits files (`…/edit/main`). */
  editUrl: string | null
}

export function stageSite({ folder, base, sourceUrl, editUrl }: StageOptions): SitePage[] {
  const pages = allPages()
  const pageByPath = new Map(pages.map((page) => [page.path, page]))
  const find = (path: string): SitePage | undefined =>
    pageByPath.get(path) ?? pageByPath.get(`${path.replace(/\/$/, '')}/README.md`)
  const publicFolder = join(folder, 'public')
  rmSync(folder, { recursive: true, force: true })
  cpSync(join(root, 'docs/images'), join(folder, 'images'), { recursive: true })
  cpSync(join(root, 'docs/images'), join(publicFolder, 'images'), { recursive: true })
  cpSync(join(root, 'packages/ui/src/icon.svg'), join(publicFolder, 'icon.svg'))
  const plainByPath = new Map<string, string>()
  for (const page of pages) {
    const markdown = withoutComments(readFileSync(join(root, page.path), 'utf8'))
    const plain = replaceLinks(markdown, page.path, (text, { path, heading }) => {
      const target = find(path)
      if (target === undefined && text.startsWith('!')) return `${text}(${imageLink(page, path)})`
      const copy = target === undefined ? copiedFile(path, publicFolder) : markdownFile(target)
      if (copy === null) return unlinked(text)
      return `${text}(${posix.relative(posix.dirname(markdownFile(page)), copy)}${heading})`
    })
    plainByPath.set(page.path, plain)
    write(join(publicFolder, markdownFile(page)), plain)
    const linked = replaceLinks(markdown, page.path, (text, { path, heading }) => {
      if (text.startsWith('!')) return inlineOrImage(text, page, path)
      if (path === page.path) return `${text}(${heading})`
      const target = find(path)
      if (target !== undefined) return `${text}(/${target.address}${heading})`
      if (sourceUrl !== null) return `${text}(${sourceUrl}/${path})`
      const copy = copiedFile(path, publicFolder)
      return copy === null ? unlinked(text) : `${text}(/${copy})`
    })
    const body = page.path === HOME ? linked.replace(/^# .*\n/m, '') : linked
    write(join(folder, `${stagedName(page)}.md`), frontMatter(page, editUrl) + forVitePress(body))
  }
  write(
    join(publicFolder, 'llms.txt'),
    llmsText((page) => `${base}${markdownFile(page)}`),
  )
  write(join(publicFolder, 'llms-full.txt'), llmsFullText(plainByPath))
  return pages
}

/** The name of a page's Markdown on the site. */
export function markdownFile(page: SitePage): string {
  return `${stagedName(page)}.md`
}

/** The name of a page's HTML on the site. */
export function htmlFile(page: SitePage): string {
  return `${stagedName(page)}.html`
}

function stagedName({ address }: SitePage): string {
  return address === '' || address.endsWith('/') ? `${address}index` : address
}

function frontMatter(page: SitePage, editUrl: string | null): string {
  const fields = {
    ...(page.path === HOME && homeFields()),
    description: page.about,
    markdownLink: markdownFile(page),
    ...(editUrl !== null && { editLink: `${editUrl}/${page.path}` }),
  }
  return `---\n${JSON.stringify(fields)}\n---\n\n`
}

/** The first page of the site has a card for each path, in place of its heading. */
function homeFields(): object {
  const paths = siteGroups().filter(({ path }) => path !== null)
  return {
    layout: 'home',
    hero: {
      name: 'Portico',
      text: 'A gateway for HTTP, LLM and MCP traffic',
      actions: [
        { theme: 'brand', text: 'Get started', link: '/getting-started' },
        { theme: 'alt', text: 'Examples', link: '/examples/' },
      ],
    },
    features: paths.map(({ title, path, pages }) => ({
      title,
      details: path,
      link: `/${pages[0]?.address}`,
      linkText: pages[0]?.title,
    })),
  }
}

/** Configs and manifests that pages link to come along; returns the name on the site, null for any other file. */
function copiedFile(path: string, publicFolder: string): string | null {
  if (!/\.(?:ya?ml|json)$/.test(path)) return null
  cpSync(join(root, path), join(publicFolder, 'files', path))
  return `files/${path}`
}

/** Other files outside of the site are named, and not linked, where nobody says where the tree can be read. */
function unlinked(text: string): string {
  return text.slice(1, -1)
}

function imageLink(page: SitePage, path: string): string {
  return posix.relative(posix.dirname(markdownFile(page)), path.replace(/^docs\//, ''))
}

/** Drawings stand in the page, where the theme colors them. */
function inlineOrImage(text: string, page: SitePage, path: string): string {
  if (!path.endsWith('.svg')) return `${text}(./${imageLink(page, path)})`
  const svg = readFileSync(join(root, path), 'utf8')
  return svg.replace(/<style>[^]*?<\/style>/, '').replaceAll(/\n\s*/g, '')
}

function withoutComments(markdown: string): string {
  return outsideCode(markdown, (prose) => prose.replaceAll(/<!--[^]*?-->\n?/g, ''))
}

/** Pages are templates of Vue, in which double braces have a meaning; two languages have no highlighter. */
function forVitePress(markdown: string): string {
  const known = markdown.replaceAll(/^```(?:promql|rego)$/gm, '```txt')
  const escaped = outsideCode(known, (prose) => prose.replaceAll('{{', '&#123;&#123;'))
  return replaceInlineCode(escaped, (code, text) =>
    code.includes('{{') ? `<code v-pre>${escapeHtml(text.trim())}</code>` : code,
  )
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** The newest change of a file that the site is made of, in milliseconds; for a server that follows changes. */
export function lastChange(): number {
  const files = allPages().map(({ path }) => join(root, path))
  return Math.max(...files.filter((file) => existsSync(file)).map((file) => statSync(file).mtimeMs))
}
