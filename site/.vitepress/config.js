import { anchorOf } from '../links.ts'
import { sidebar } from '../sidebar.ts'

// Set by scripts/docs.mjs.
const { DOCS_PAGES, DOCS_BUILD, DOCS_SITE_ROOT, DOCS_SITE_BASE, DOCS_SITE_VERSION } = process.env

// oxlint-disable-next-line import/no-default-export -- VitePress reads it.
export default {
  title: 'Portico',
  description: 'A gateway for HTTP, LLM and MCP traffic',
  lang: 'en-US',
  srcDir: DOCS_PAGES,
  srcExclude: ['public/**'],
  outDir: DOCS_BUILD,
  cacheDir: '../node_modules/.cache/docs-site',
  base: DOCS_SITE_BASE,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${DOCS_SITE_BASE}icon.svg` }]],
  // Links that lead nowhere fail the build.
  ignoreDeadLinks: false,
  metaChunk: true,
  markdown: {
    // The anchors of code hosts, so that links to headings work in both.
    anchor: { slugify: anchorOf },
    linkify: false,
    theme: { light: 'github-light', dark: 'github-dark' },
  },
  // The index of the search is one chunk.
  vite: { build: { chunkSizeWarningLimit: 4_000 } },
  themeConfig: {
    logo: '/icon.svg',
    sidebar: sidebar(),
    nav: [
      { text: 'Start', link: '/getting-started' },
      { text: 'Policies', link: '/policies/' },
      { text: 'Reference', link: '/reference/' },
    ],
    outline: [2, 3],
    search: { provider: 'local', options: { miniSearch: { options: { tokenize: searchTerms } } } },
    externalLinkIcon: true,
    version: DOCS_SITE_VERSION,
    siteRoot: DOCS_SITE_ROOT,
  },
}

/**
 * The terms of a text, for pages and for what users search: words, and the parts of names in camel case, so that
 * `session persistence` finds the page of `sessionPersistence`. The browser gets a copy of this function alone.
 */
function searchTerms(text) {
  return text.split(/[\n\r\p{Z}\p{P}]+/u).flatMap((word) => {
    const parts = word.split(/(?<=[a-z\d])(?=[A-Z])/)
    return parts.length > 1 ? [word, ...parts] : [word]
  })
}
