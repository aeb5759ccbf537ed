import type { Matcher } from 're2js'
import { RE2JS } from 're2js'
import { hasLinearBacktracking } from './linear.ts'
import type { Branch } from './parse.ts'
import { parseCommonSyntax, wholeTree } from './parse.ts'
import { parseReplacement } from './replacement.ts'
import { searchSource } from './search-form.ts'
import { toV8Source } from './to-v8-source.ts'

export type CompiledRegex = Regex | { ok: false; message: string }

export interface Regex {
  ok: true
  /** Who answers `fullMatch`. */
  engine: Engine
  /** Who answers `search`. */
  readonly searchEngine: Engine
  /** Instructions of the compiled pattern: what RE2 needs for one character grows with them. */
  size: number
  /** Whether the whole text matches. */
  fullMatch: (text: string) => boolean
  /** Whether there is a match anywhere in the text. */
  search: (text: string) => boolean
  /** The text with its first match replaced; `$1` and `${name}` in the replacement stand for groups. */
  replaceFirst: (text: string, replacement: string) => string
}

type Engine = 'v8' | 're2'

/** Patterns are RE2, whoever runs them: V8 is many times faster, but gets only those where it cannot do harm. */
export function compileRegex(pattern: string): CompiledRegex {
  let re2: RE2JS
  try {
    re2 = RE2JS.compile(pattern)
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) }
  }
  const branches = parseCommonSyntax(pattern)
  const whole = testOf(branches && wholeSource(branches), (text) => re2.testExact(text))
  // Most patterns are used in one way only.
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

function replaceFirst(matcher: Matcher, text: string, replacement: string): string {
  if (!matcher.find()) return text
  const replaced = parseReplacement(replacement).map((piece) =>
    'text' in piece ? piece.text : groupText(matcher, piece.group),
  )
  return text.slice(0, matcher.start()) + replaced.join('') + text.slice(matcher.end())
}

/** A group that does not exist, or took no part, is empty. */
function groupText(matcher: Matcher, group: number | string): string {
  if (typeof group === 'number') return group > matcher.groupCount() ? '' : (matcher.group(group) ?? '')
  return matcher.getNamedGroups()[group] ?? ''
}
