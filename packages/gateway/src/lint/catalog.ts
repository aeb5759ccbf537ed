import { CHECKS, LOADER_CODES } from './checks.ts'
import type { Severity } from './check.ts'

/** The description of a code, for reports and pages. */
export interface LintPage {
  readonly code: string
  readonly severity: Severity
  readonly summary: string
  readonly why: string
  readonly fix: string
  readonly bad: string
  readonly good: string
}

/** All codes that have a page, in alphabetical order. */
export function lintCatalog(): LintPage[] {
  const checks = Object.values(CHECKS).map(({ run: _run, ...page }) => page)
  const others = Object.entries(LOADER_CODES).map(([code, page]) => ({ code, severity: 'warning' as const, ...page }))
  return [...checks, ...others].toSorted((a, b) => (a.code < b.code ? -1 : 1))
}
