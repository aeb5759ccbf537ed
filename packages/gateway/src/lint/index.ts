/** Lint of configs, for porticoctl and for the program. */
export type { Severity } from './check.ts'
export { lintCatalog, type LintPage } from './catalog.ts'
export { type LintFinding, lintPath, type LintReport, lintText, printFinding } from './lint.ts'
