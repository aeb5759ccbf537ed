import { siteGroups, type SitePage } from './site-pages.ts'

/** The list of pages for language models: https://llmstxt.org. */

const TITLE = 'Portico'
const SUMMARY =
  'A gateway for HTTP, LLM and MCP traffic: it routes requests to services, language models and MCP servers, applies policies, and explains every decision.'

export function llmsText(linkOf: (page: SitePage) => string): string {
  const groups = siteGroups().map(({ title, pages }) => {
    const lines = pages.flatMap((page) => [line(page, linkOf), ...page.children.map((child) => line(child, linkOf))])
    return `## ${title}\n\n${lines.join('\n')}\n`
  })
  return [`# ${TITLE}\n`, `> ${SUMMARY}\n`, ...groups].join('\n')
}

/** All pages in the order of the list, each behind its path. */
export function llmsFullText(markdownByPath: ReadonlyMap<string, string>): string {
  const pages = [...markdownByPath].map(([path, markdown]) => `<!-- ${path} -->\n\n${markdown.trim()}\n`)
  return `# ${TITLE}\n\n> ${SUMMARY}\n\n${pages.join('\n')}`
}

function line(page: SitePage, linkOf: (page: SitePage) => string): string {
  return `- [${page.title}](${linkOf(page)})${page.about === '' ? '' : `: ${page.about}`}`
}
