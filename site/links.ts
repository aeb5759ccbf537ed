import { posix } from 'node:path'

/** Links of Markdown files, which work in the tree, as links of the site. */

/** Code blocks, and code inside of a paragraph. */
const CODE = /^[ ]*(```+|~~~+)[^]*?^[ ]*\1[ ]*$|(?<!`)(`+)(?!`)(?:(?!\n\n)[^])*?(?<!`)\2(?!`)/gm

interface LinkTarget {
  /** Path of the file from the root of the project. */
  path: string
  /** With its `#`; empty where the link names no heading. */
  heading: string
}

/** Replaces relative links outside of code; `replace` gets the text in brackets with its `!` if it is an image. */
export function replaceLinks(
  markdown: string,
  from: string,
  replace: (text: string, target: LinkTarget) => string,
): string {
  return outsideCode(markdown, (prose) =>
    prose.replaceAll(/(!?\[(?:[^[\]]|\[[^\]]*\])*\])\(([^)\s]+)\)/g, (whole, text: string, link: string) => {
      if (/^[a-z][a-z+.-]*:/i.test(link)) return whole
      const [path = '', heading] = link.split('#')
      const target = path === '' ? from : posix.join(posix.dirname(from), path)
      return replace(text, { path: target, heading: heading === undefined ? '' : `#${heading}` })
    }),
  )
}

/** Applies `edit` to the prose; code in brackets of a link counts as prose. */
export function outsideCode(markdown: string, edit: (prose: string) => string): string {
  const codes: string[] = []
  const hidden = markdown.replaceAll(CODE, (code) => `\u0000${codes.push(code) - 1}\u0000`)
  return edit(hidden).replaceAll(/\u0000(\d+)\u0000/g, (_, index: string) => codes[Number(index)] ?? '')
}

/** Replaces inline code in paragraphs. `replace` receives the code with its backticks, and the text without them. */
export function replaceInlineCode(markdown: string, replace: (code: string, text: string) => string): string {
  return markdown.replaceAll(CODE, (code, fence: string | undefined, ticks = '') =>
    fence === undefined ? replace(code, code.slice(ticks.length, -ticks.length)) : code,
  )
}

/** The anchor of a heading by the rule of code hosts: lower case, no punctuation, dashes for spaces. */
export function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
