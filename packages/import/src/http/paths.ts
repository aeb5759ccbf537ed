import { compileRegex } from '@portico/regex'
import type { PathCondition } from './model.ts'

const LONGEST_PATH = 1_024

/** Whether a request can have the path and a config may contain it. */
export function isPlainPath(path: string): boolean {
  return (
    path.length <= LONGEST_PATH &&
    /^\/[!$&'()*+,\-./0-9:;=@A-Z_a-z~%]*$/.test(path) &&
    !path.split('/').some((segment) => /^(\.|%2e){1,2}$/i.test(segment))
  )
}

export function exactPath(path: string): PathCondition | null {
  return isPlainPath(path) ? { kind: 'exact', path } : null
}

export function pathStart(path: string): PathCondition | null {
  return isPlainPath(path) ? { kind: 'start', path } : null
}

/** Returns the same condition without regard to letter case. */
export function anyCase(condition: PathCondition): PathCondition {
  if (condition.kind === 'pattern') {
    return condition.regex.startsWith('(?i)') ? condition : { kind: 'pattern', regex: `(?i)${condition.regex}` }
  }
  const path = condition.path.toLowerCase()
  return path === condition.path.toUpperCase() ? condition : { kind: condition.kind, path, isCaseless: true }
}

/** Returns a condition with a pattern for the whole path; null when the pattern is not RE2. */
export function pathPattern(regex: string): PathCondition | null {
  return isRegex(regex) ? { kind: 'pattern', regex } : null
}

export function isRegex(regex: string): boolean {
  return regex.length > 0 && regex.length <= 1_000 && compileRegex(regex).ok
}

export function escapeRegex(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, (sign) => `\\${sign}`)
}

/** Converts a pattern that is searched anywhere in a text to a pattern for the whole text. */
export function wholePattern(regex: string): string {
  const [, flags = '', searched = ''] = /^(\(\?i\))?([^]*)$/.exec(regex) ?? []
  const source = searched.replaceAll('(?<', '(?P<').replaceAll(/\(\?P<([=!])/g, '(?<$1')
  if (hasOuterChoice(source)) return `${flags}.*(?:${source}).*`
  const start = source.startsWith('^') ? source.slice(1) : `.*${source}`
  const isEnded = /(^|[^\\])(\\\\)*\$$/.test(start)
  return flags + (isEnded ? start.slice(0, -1) : `${start}.*`)
}

/** Whether a pattern has a `|` outside of groups and character sets. */
export function hasOuterChoice(source: string): boolean {
  let depth = 0
  for (const [token] of source.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]|[()|]/gs)) {
    if (token === '|' && depth === 0) return true
    if (token === '(') depth++
    if (token === ')') depth--
  }
  return false
}

/** Returns a condition as a pattern for the whole path. */
export function regexOf(path: PathCondition | null): string {
  if (path === null) return '/.*'
  if (path.kind === 'pattern') return path.regex
  const text = (path.isCaseless === true ? '(?i)' : '') + escapeRegex(path.path)
  if (path.kind === 'exact') return text
  if (path.kind === 'start') return `${text}.*`
  return path.path === '/' ? '/.*' : `${text}(/.*)?`
}

const beforeQuery = new Map<string, string | null>()

/** Returns a pattern for the path followed by an optional query; null when the pattern may already match a query. */
export function patternBeforeQuery(regex: string): string | null {
  const known = beforeQuery.get(regex)
  if (known !== undefined) return known
  if (beforeQuery.size > 10_000) beforeQuery.clear()
  const found = makePatternBeforeQuery(regex)
  beforeQuery.set(regex, found)
  return found
}

function makePatternBeforeQuery(regex: string): string | null {
  const [, flags = '', source = ''] = /^(\(\?i\))?([^]*)$/.exec(regex) ?? []
  let text = ''
  for (const [token] of source.matchAll(/\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[^]/g)) {
    if (token === '.') text += '[^?]'
    else if (token.startsWith('[^')) text += `[^?${token.slice(2)}`
    else if (/^\\[DWSPCX]$/.test(token) || (token.startsWith('[') && /\\[DWSP]|\[:|\?/.test(token))) return null
    else text += token
  }
  const found = `${flags}(?:${text})(\\?.*)?`
  return isRegex(found) ? found : null
}

const compiled = new Map<string, RegExp | null>()

/** Whether an RE2 pattern matches a whole text; null when the importer cannot tell. */
export function fitsRegex(regex: string, text: string): boolean | null {
  let found = compiled.get(regex)
  if (found === undefined) {
    found = compile(regex)
    if (compiled.size > 10_000) compiled.clear()
    compiled.set(regex, found)
  }
  return found === null ? null : found.test(text)
}

function compile(regex: string): RegExp | null {
  const [, flags = '', source = ''] = /^(\(\?i\))?([^]*)$/.exec(regex) ?? []
  // A pattern with nested repetitions can take a backtracking matcher forever, so it is not run.
  if (/[*+}]\)?[*+{]/.test(source)) return null
  try {
    return new RegExp(`^(?:${source.replaceAll('(?P<', '(?<')})$`, flags === '' ? '' : 'i')
  } catch {
    return null
  }
}

/** Whether a path fits a condition; null when the importer cannot tell. */
export function fitsPath(condition: PathCondition | null, path: string): boolean | null {
  if (condition === null) return true
  if (condition.kind === 'pattern') return fitsRegex(condition.regex, path)
  const text = condition.isCaseless === true ? path.toLowerCase() : path
  switch (condition.kind) {
    case 'exact':
      return condition.path === text
    case 'start':
      return text.startsWith(condition.path)
    case 'segments':
      return condition.path === '/' || text === condition.path || text.startsWith(`${condition.path}/`)
  }
}

/** Returns the literal text that all paths of a pattern begin with; empty when the importer cannot tell. */
export function literalStart(regex: string): string {
  if (regex.startsWith('(?') || hasOuterChoice(regex)) return ''
  let text = ''
  for (const [token] of regex.matchAll(/\\[^\w]|[^\\]|\\./gs)) {
    if (/^[*?{]$/.test(token)) return text.slice(0, -1)
    if (/^[.[()^$+|]$/.test(token) || /^\\\w/.test(token)) return text
    text += token.startsWith('\\') ? token.slice(1) : token
  }
  return text
}

/** Returns the text of a pattern without special characters; null for other patterns. */
export function literalOfRegex(regex: string): string | null {
  const text = regex.replaceAll(/\\([^\w])/g, '$1')
  return escapeRegex(text) === regex ? text : null
}
