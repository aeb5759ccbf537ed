import { RE2JS } from 're2js'
import { hasLinearBacktracking } from './linear.ts'
import { parseCommonSyntax } from './parse.ts'
import { toV8Source } from './to-v8-source.ts'

export type CompiledRegex =
  | { ok: true; fullMatch: (text: string) => boolean; engine: 'v8' | 're2' }
  | { ok: false; message: string }

/** Patterns are RE2, whoever runs them: V8 is many times faster, but gets only those where it cannot do harm. */
export function compileRegex(pattern: string): CompiledRegex {
  let re2: RE2JS
  try {
    re2 = RE2JS.compile(pattern)
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) }
  }
  const tree = parseCommonSyntax(pattern)
  if (tree === null || !hasLinearBacktracking(tree)) {
    return { ok: true, engine: 're2', fullMatch: (text) => re2.testExact(text) }
  }
  // The u flag makes V8 step by code points, as RE2 does.
  const v8 = new RegExp(`^(?:${toV8Source(tree)})$`, 'u')
  return { ok: true, engine: 'v8', fullMatch: (text) => v8.test(text) }
}
