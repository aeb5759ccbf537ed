import type { CharSet } from './char-set.ts'
import { complement, DOT, EMPTY, PERL_CLASSES, range, single } from './char-set.ts'

export type RegexNode =
  | { kind: 'chars'; set: CharSet }
  | { kind: 'sequence'; items: RegexNode[] }
  | { kind: 'choice'; branches: RegexNode[] }
  | { kind: 'repeat'; item: RegexNode; min: number; max: number }

/**
 * Reads a pattern that RE2 has accepted, if it keeps to the plain syntax that V8 can be given too.
 * Null for all the rest (flags, named groups, inner anchors, Unicode and POSIX classes, rare escapes): RE2 runs those.
 */
export function parseCommonSyntax(pattern: string): RegexNode | null {
  const reader: Reader = { text: pattern, at: 0 }
  const tree = readChoice(reader, true)
  return reader.at === pattern.length ? tree : null
}

interface Reader {
  text: string
  at: number
}

const LITERAL = /[\w/\-~!@#%&=:;,<>"'` ]/
const ESCAPED_LITERAL = /[!-/:-@[-`{-~]/
const BOUNDS = /\{(\d{1,4})(?:(,)(\d{1,4})?)?\}/y

function readChoice(reader: Reader, topLevel: boolean): RegexNode | null {
  const branches: RegexNode[] = []
  do {
    const branch = readSequence(reader, topLevel)
    if (branch === null) return null
    branches.push(branch)
  } while (take(reader, '|'))
  return branches.length === 1 ? branches[0]! : { kind: 'choice', branches }
}

function readSequence(reader: Reader, topLevel: boolean): RegexNode | null {
  const items: RegexNode[] = []
  // The whole text must match anyway, so the outermost anchors say nothing.
  if (topLevel) take(reader, '^')
  while (reader.at < reader.text.length && !isAhead(reader, '|') && !isAhead(reader, ')')) {
    if (topLevel && isAhead(reader, '$') && isBranchEnd(reader, reader.at + 1)) {
      reader.at++
      break
    }
    const atom = readAtom(reader)
    const item = atom && readRepeat(reader, atom)
    if (item === null) return null
    items.push(item)
  }
  return items.length === 1 ? items[0]! : { kind: 'sequence', items }
}

function readAtom(reader: Reader): RegexNode | null {
  if (take(reader, '(')) {
    if (isAhead(reader, '?') && !take(reader, '?:')) return null
    const inner = readChoice(reader, false)
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
  // Lazy or greedy is no difference to whether the whole text matches.
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
    // A bare hyphen is plain only at either end.
    if (isHyphen && !isFirst && !isAhead(reader, ']')) return null
    if (!isAhead(reader, '-') || reader.text[reader.at + 1] === ']') {
      set |= low
      continue
    }
    reader.at++
    const to = reader.at
    if (isHyphen || isAhead(reader, '-') || readClassChar(reader) === null) return null
    const ends = [plainChar(reader.text, from), plainChar(reader.text, to)] as const
    const span = ends[0] !== null && ends[1] !== null ? range(ends[0], ends[1]) : null
    if (span === null) return null
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
  if (Object.hasOwn(PERL_CLASSES, escaped)) return PERL_CLASSES[escaped]!
  return ESCAPED_LITERAL.test(escaped) ? single(escaped) : null
}

/** The character written at this place of a class, or null for a shorthand such as \d. */
function plainChar(text: string, at: number): string | null {
  if (text[at] !== '\\') return text[at]!
  const escaped = text[at + 1]!
  return Object.hasOwn(PERL_CLASSES, escaped) ? null : escaped
}

function isBranchEnd(reader: Reader, at: number): boolean {
  return at === reader.text.length || reader.text[at] === '|'
}

function isAhead(reader: Reader, token: string): boolean {
  return reader.text.startsWith(token, reader.at)
}

function take(reader: Reader, token: string): boolean {
  if (!isAhead(reader, token)) return false
  reader.at += token.length
  return true
}
