import type { SourceLocation } from '../findings/explanation.ts'
import type { ConfigLocation } from '../sources/located-problem.ts'
import type { TestResult } from './run-tests.ts'

/** Returns the first failure of a test in one line. */
export function failureText({ name, location, failures }: TestResult): string {
  const [first] = failures
  const { request = '', unknown = '', differences = [], headline = null, decidedAt = null } = first ?? {}
  const reasons = [
    ...(unknown === '' ? [] : [unknown]),
    ...differences.map(({ field, expected, actual }) => `${field.join('.')}: expected ${expected}, found ${actual}`),
    ...(headline === null ? [] : [`${headline}${decidedAt === null ? '' : ` (${locationText(decidedAt)})`}`]),
  ]
  const more = failures.length > 1 ? `; ${failures.length - 1} more` : ''
  return `${locationText(location)}: the test "${name}" failed: ${request}: ${reasons.join('; ')}${more}`
}

export function locationText(location: SourceLocation | ConfigLocation): string {
  if ('file' in location) return `${location.file}:${location.line}:${location.column}`
  return 'variable' in location ? `environment variable ${location.variable}` : `${location.kind} ${location.name}`
}
