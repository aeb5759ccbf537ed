import type { Matcher } from 're2js'
import { RE2JS } from 're2js'
import { hasLinearBacktracking } from './linear.ts'
import type { Branch } from './parse.ts'
import { parseCommonSyntax, wholeTree } from './parse.ts'
import type { Reach } from './reach.ts'
import { reachOf } from './reach.ts'
import { searchSource, toV8Source } from './v8-source.ts'

type CompiledRegex = Regex | { ok: false; message: string }

export interface Regex {
  ok: true
  /** The engine that runs `fullMatch`. */
  engine: Engine
  /** The engine that runs `search`. */
  readonly searchEngine: Engine
  /** Instructions of the compiled pattern; RE2's time per character grows with this number. */
  size: number
  /** Whether the whole text matches. */
  fullMatch: (text: string) => boolean
  /** Whether there is a match anywhere in the text. */
  search: (text: string) => boolean
  /** The text with its first match replaced; `$1` and `${name}` in the replacement stand for groups. */
  replaceFirst: (text: string, replacement: string) => string
  /**
   * Yields every match from the offset `from` on, in order and without overlap. Anchors and word boundaries see the
   * text before it.
   */
  matches: (text: string, from: number) => Iterable<Span>
  /** Bounds of the matches; null when unknown. */
  readonly reach: Reach | null
}

export type { Reach } from './reach.ts'

/** A range of a text in UTF-16 code units; `end` is exclusive. */
export interface Span {
  start: number
  end: number
}

type Engine = 'v8' | 're2'

/**
 * Compiles a pattern with RE2 semantics. V8 is many times faster, but runs only patterns in plain syntax on which its
 * time is provably linear.
 */
export function compileRegex(pattern: string): CompiledRegex {
  let re2: RE2JS
  try {
    re2 = RE2JS.compile(pattern)
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) }
  }
  const branches = parseCommonSyntax(pattern)
  const whole = testOf(branches && wholeSource(branches), (text) => re2.testExact(text))
  // Compiled on demand, because most patterns are used for either match or search.
  let anywhere: Test | undefined
  const searching = (): Test => (anywhere ??= testOf(branches && searchSource(branches), (text) => re2.test(text)))
  return {
    ok: true,
    engine: whole.engine,
    size: re2.programSize(),
    fullMatch: whole.test,
    get searchEngine() {
      return searching().engine
    },
    search: (text) => searching().test(text),
    replaceFirst: (text, replacement) => replaceFirst(re2.matcher(text), text, replacement),
    matches: (text, from) => matchesOf(re2.matcher(text), from),
    get reach() {
      return reachOf(pattern)
    },
  }
}

function wholeSource(branches: Branch[]): string | null {
  const tree = wholeTree(branches)
  return hasLinearBacktracking(tree) ? `^(?:${toV8Source(tree)})$` : null
}

interface Test {
  engine: Engine
  test: (text: string) => boolean
}

function testOf(v8Source: string | null, re2Test: (text: string) => boolean): Test {
  if (v8Source === null) return { engine: 're2', test: re2Test }
  // The u flag makes V8 step by code points, as RE2 does.
  const regex = new RegExp(v8Source, 'u')
  return { engine: 'v8', test: (text) => regex.test(text) }
}

function* matchesOf(matcher: Matcher, from: number): Generator<Span> {
  for (let found = matcher.find(from); found; found = matcher.find()) {
    yield { start: matcher.start(), end: matcher.end() }
  }
}

function replaceFirst(matcher: Matcher, text: string, replacement: string): string {
  if (!matcher.find()) return text
  const replaced = parseReplacement(replacement).map((piece) =>
    'text' in piece ? piece.text : groupText(matcher, piece.group),
  )
  return text.slice(0, matcher.start()) + replaced.join('') + text.slice(matcher.end())
}

/** The text of a group; empty when the group does not exist or took no part in the match. */
function groupText(matcher: Matcher, group: number | string): string {
  if (typeof group === 'number') return group > matcher.groupCount() ? '' : (matcher.group(group) ?? '')
  return matcher.getNamedGroups()[group] ?? ''
}

/** A part of a replacement: a text, or the number or name of a group. */
type Piece = { text: string } | { group: number | string }

const REFERENCE = /\$(?:\$|(\d{1,3})|\{(\d{1,3}|[A-Za-z_]\w{0,31})\}|([A-Za-z_]\w{0,31}))/g

/**
 * Parses a replacement: `$1`, `${1}`, `$name`, `${name}` stand for groups, `$$` for a dollar, any other dollar for itself.
 */
function parseReplacement(replacement: string): Piece[] {
  const pieces: Piece[] = []
  let from = 0
  for (const match of replacement.matchAll(REFERENCE)) {
    const group = match[1] ?? match[2] ?? match[3]
    pieces.push({ text: replacement.slice(from, match.index) })
    pieces.push(group === undefined ? { text: '$' } : { group: /^\d/.test(group) ? Number(group) : group })
    from = match.index + match[0].length
  }
  pieces.push({ text: replacement.slice(from) })
  return pieces
}
