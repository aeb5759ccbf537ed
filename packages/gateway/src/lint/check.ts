import type { Path } from '../schema/problem.ts'
import type { LintSubject } from './subject.ts'

export type Severity = 'error' | 'warning'

/** A part of the IR or of the config with a path below it, or a path from the root of the file. */
export type FindingTarget = { readonly part: object; readonly path?: Path } | { readonly file: Path }

/** Reports a finding. The phrases fit the sentence "<found>, expected <expected>". */
type Report = (target: FindingTarget, phrases: { found: string; expected: string }) => void

/** A check of a valid config. Its page in `docs/lint` is printed from these texts, and both examples are run by a test. */
export interface LintCheck<Code extends string = string> {
  readonly code: Code
  readonly severity: Severity
  /** The mistake that the check finds: a sentence without a period that begins in lower case. */
  readonly summary: string
  /** Why that is a problem; sentences. */
  readonly why: string
  /** The remedy: sentences in the imperative. */
  readonly fix: string
  /** A config that the check reports. */
  readonly bad: string
  /** The config without the problem. */
  readonly good: string
  run(this: void, subject: LintSubject, report: Report): void
}

export function defineCheck<const Code extends string>(check: LintCheck<Code>): LintCheck<Code> {
  return check
}
