import type { CharSet } from './char-set.ts'
import { complement, DOT, EMPTY, PERL_CLASSES, range, single } from './char-set.ts'

export type RegexNode =
  | { kind: 'chars'; set: CharSet }
  | { kind: 'sequence'; items: RegexNode[] }
  | { kind: 'choice'; branches: RegexNode[] }
  | { kind: 'repeat'; item: RegexNode; min: number; max: number }

/** A top-level alternative with the anchors at its ends. */
export interface Branch {
  node: RegexNode
  fromStart: boolean
  toEnd: boolean
}

/**
 * Parses a pattern that RE2 has accepted, if it uses only the plain syntax that can be rewritten for V8. Null for
 * everything else (flags, named groups, inner anchors, Unicode and POSIX classes, rare escapes), which runs in RE2.
 */
export function parseCommonSyntax(pattern: string): Branch[] | null {
  const reader: Reader = { text: pattern, at: 0 }
  const branches: Branch[] = []
  do {
    const branch = readBranch(reader)
    if (branch === null) return null
    branches.push(branch)
  } while (take(reader, '|'))
  return reader.at === pattern.length ? branches : null
}

/** The tree for matching the whole text, where the outermost anchors are redundant. */
export function wholeTree(branches: Branch[]): RegexNode {
  return oneOrChoice(branches.map(({ node }) => node))
}

function oneOrChoice(branches: RegexNode[]): RegexNode {
  const [first, second] = branches
  return first !== undefined && second === undefined ? first : { kind: 'choice', branches }
}

interface Reader {
  text: string
  at: number
}

const LITERAL = /[\w/\-~!@#%&=:;,<>"'` ]/
const ESCAPED_LITERAL = /[!-/:-@[-`{-~]/
const BOUNDS = /\{(\d{1,4})(?:(,)(\d{1,4})?)?\}/y

function readBranch(reader: Reader): Branch | null {
  const fromStart = take(reader, '^')
  const node = readSequence(reader)
  const toEnd = node !== null && take(reader, '$')
  const isEnd = reader.at === reader.text.length || isAhead(reader, '|')
  return node !== null && isEnd ? { node, fromStart, toEnd } : null
}

function readChoice(reader: Reader): RegexNode | null {
  const branches: RegexNode[] = []
  do {
    const branch = readSequence(reader)
    if (branch === null) return null
    branches.push(branch)
  } while (take(reader, '|'))
  return oneOrChoice(branches)
}

/**
 * Parses up to `|`, `)` or `$`, which the group or branch around it reads. No caller reads an inner anchor, so it is
 * rejected.
 */
function readSequence(reader: Reader): RegexNode | null {
  const items: RegexNode[] = []
  while (reader.at < reader.text.length && !isAhead(reader, '|') && !isAhead(reader, ')') && !isAhead(reader, '$')) {
    const atom = readAtom(reader)
    const item = atom && readRepeat(reader, atom)
    if (item === null) return null
    items.push(item)
  }
  const [first, second] = items
  return first !== undefined && second === undefined ? first : { kind: 'sequence', items }
}

function readAtom(reader: Reader): RegexNode | null {
  if (take(reader, '(')) {
    if (isAhead(reader, '?') && !take(reader, '?:')) return null
    const inner = readChoice(reader)
    return take(reader, ')') ? inner : null
  }
  const set = take(reader, '[') ? readClass(reader) : take(reader, '.') ? DOT : readChar(reader)
  return set === null ? null : { kind: 'chars', set }
}

function readRepeat(reader: Reader, item: RegexNode): RegexNode | null {
  let min = 0
  let max = Infinity
  if (take(reader, '?')) max = 1
  else if (take(reader, '+')) min = 1
  else if (!take(reader, '*')) {
    if (!isAhead(reader, '{')) return item
    BOUNDS.lastIndex = reader.at
    const bounds = BOUNDS.exec(reader.text)
    if (bounds === null) return null
    reader.at = BOUNDS.lastIndex
    min = Number(bounds[1])
    max = bounds[2] === undefined ? min : bounds[3] === undefined ? Infinity : Number(bounds[3])
    if (max === 0) return null
  }
  // Lazy and greedy quantifiers match the same texts; only the extent of a match inside a text differs.
  take(reader, '?')
  return { kind: 'repeat', item, min, max }
}

function readClass(reader: Reader): CharSet | null {
  const negated = take(reader, '^')
  let set = EMPTY
  const start = reader.at
  while (reader.at === start || !take(reader, ']')) {
    const isFirst = reader.at === start
    const from = reader.at
    const low = readClassChar(reader)
    if (low === null) return null
    const isHyphen = reader.text[from] === '-'
    // A bare hyphen is a plain character only at either end of a class.
    if (isHyphen && !isFirst && !isAhead(reader, ']')) return null
    if (!isAhead(reader, '-') || reader.text[reader.at + 1] === ']') {
      set |= low
      continue
    }
    reader.at++
    const to = reader.at
    if (isHyphen || isAhead(reader, '-') || readClassChar(reader) === null) return null
    const ends = [plainChar(reader.text, from), plainChar(reader.text, to)] as const
    const span = ends[0] !== null && ends[1] !== null ? range(ends[0], ends[1]) : EMPTY
    if (span === EMPTY) return null
    set |= span
  }
  return negated ? complement(set) : set
}

function readClassChar(reader: Reader): CharSet | null {
  const char = reader.text[reader.at]
  if (char !== undefined && '.+*?()|{}^$'.includes(char)) {
    reader.at++
    return single(char)
  }
  return readChar(reader)
}

function readChar(reader: Reader): CharSet | null {
  const char = reader.text[reader.at]
  if (char === undefined) return null
  if (char !== '\\') {
    if (!LITERAL.test(char)) return null
    reader.at++
    return single(char)
  }
  const escaped = reader.text[reader.at + 1]
  if (escaped === undefined) return null
  reader.at += 2
  const shorthand = PERL_CLASSES.get(escaped)
  if (shorthand !== undefined) return shorthand
  return ESCAPED_LITERAL.test(escaped) ? single(escaped) : null
}

/** The character at this position of a class, or null for a shorthand such as \d. */
function plainChar(text: string, at: number): string | null {
  if (text[at] !== '\\') return text.charAt(at)
  const escaped = text.charAt(at + 1)
  return PERL_CLASSES.has(escaped) ? null : escaped
}

function isAhead(reader: Reader, token: string): boolean {
  return reader.text.startsWith(token, reader.at)
}

function take(reader: Reader, token: string): boolean {
  if (!isAhead(reader, token)) return false
  reader.at += token.length
  return true
}
