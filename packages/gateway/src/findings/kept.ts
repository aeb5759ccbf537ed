import type { Value } from '@portico/cel'
import { REDACTED } from '../redaction/secret-names.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import type { ReadValue } from './explanation.ts'

/** Whether a record stores the value at this path. */
export function keptState(record: RequestRecord, path: readonly string[]): 'kept' | 'notKept' {
  const [root, field] = path
  if (root === 'request' || root === 'response') {
    if (field === 'body' || field === 'bodyPrefix') return 'notKept'
    if (field === 'headers') {
      return (root === 'request' ? record.requestHeaders : record.responseHeaders) === null ? 'notKept' : 'kept'
    }
    return 'kept'
  }
  if (root === 'llm' || root === 'llmRequest') return 'notKept'
  if (root === 'source' && (field === 'certificate' || field === 'identity')) return 'notKept'
  const isFound = ['jwt', 'apiKey', 'basicAuth', 'metadata', 'extauthz', 'extproc'].includes(root ?? '')
  // Records without headers have no variables either.
  return isFound && record.requestHeaders === null ? 'notKept' : 'kept'
}

/** Whether a part of the value was redacted before it was stored. */
export function isHidden(value: Value | undefined): boolean {
  if (typeof value === 'string') return value.includes(REDACTED)
  return Array.isArray(value) && (value as Value[]).some(isHidden)
}

export function stateOf(record: RequestRecord, path: readonly string[], value: Value | undefined): ReadValue['state'] {
  if (keptState(record, path) === 'notKept') return 'notKept'
  if (value === undefined) return 'absent'
  return isHidden(value) ? 'hidden' : 'found'
}
