import { checkSize, MOST_NODES, SourceError, type SourcePosition, type SourceText } from '../core/source.ts'

export interface Token {
  readonly text: string
  readonly at: SourcePosition
  /** The number of the logical line that contains the token. */
  readonly line: number
  /** Whether the token is quoted. A quoted brace opens no block. */
  readonly isQuoted: boolean
}

/** Splits a Caddyfile into tokens. Handles quotes, backticks, heredocs, comments and continued lines as Caddy does. */
export function tokensOf(source: SourceText): Token[] {
  checkSize(source)
  const { name, text } = source
  const tokens: Token[] = []
  let [line, lineStart, logical] = [1, 0, 1]
  let at = 0
  const position = (): SourcePosition => ({ file: name, line, column: at - lineStart + 1 })
  const newline = (): void => {
    line++
    lineStart = at + 1
  }
  const push = (found: string, where: SourcePosition, isQuoted: boolean): void => {
    if (tokens.length >= MOST_NODES) throw new SourceError(where, `found more than ${MOST_NODES} words`)
    tokens.push({ text: found, at: where, line: logical, isQuoted })
  }
  while (at < text.length) {
    const sign = text[at] ?? ''
    if (sign === '\n') {
      newline()
      at++
      logical = Math.max(logical + 1, line)
    } else if (sign === '\\' && /^\\\r?\n/.test(text.slice(at, at + 3))) {
      at = text.indexOf('\n', at)
      newline()
      at++
    } else if (/\s/.test(sign)) at++
    else if (sign === '#') {
      const end = text.indexOf('\n', at)
      at = end === -1 ? text.length : end
    } else if (sign === '"' || sign === '`') {
      const where = position()
      let found = ''
      at++
      for (; ; at++) {
        const next = text[at]
        if (next === undefined) throw new SourceError(where, 'found a quoted text without its end')
        if (next === sign) break
        if (next === '\n') newline()
        if (next === '\\' && sign === '"' && text[at + 1] === '"') at++
        found += text[at]
      }
      at++
      push(found, where, true)
    } else if (/^<<[\w-]+\r?\n/.test(text.slice(at, at + 100))) {
      const where = position()
      const marker = /^<<([\w-]+)/.exec(text.slice(at, at + 100))?.[1] ?? ''
      at = text.indexOf('\n', at)
      newline()
      const end = new RegExp(`^([ \\t]*)${marker}(?=\\s|$)`, 'm')
      const rest = text.slice(at + 1)
      const found = end.exec(rest)
      if (found === null) throw new SourceError(where, `found no end of the text <<${marker}`)
      const lines = rest.slice(0, Math.max(0, found.index - 1)).split('\n')
      for (let index = at + 1; index < at + 1 + found.index; index++) {
        if (text[index] !== '\n') continue
        line++
        lineStart = index + 1
      }
      at += 1 + found.index + found[0].length
      const indent = found[1] ?? ''
      push(lines.map((each) => (each.startsWith(indent) ? each.slice(indent.length) : each)).join('\n'), where, true)
    } else {
      const where = position()
      const word = /^(?:\\(?!\r?\n)|[^\s\\])+/.exec(text.slice(at, at + 100_000))?.[0] ?? sign
      at += word.length
      push(word, where, false)
    }
  }
  return tokens
}
