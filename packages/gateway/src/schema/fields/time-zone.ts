import { Refusal, scalar } from '../kit.ts'
import type { Schema } from '../kit.ts'

/** The name of a time zone of the IANA database. */
export function timeZone(): Schema<string> {
  return scalar<string>(
    (input) => {
      if (typeof input !== 'string') return new Refusal('wrong_type')
      return isTimeZone(input) ? input : new Refusal('bad_format')
    },
    {
      type: 'time zone',
      expected: 'a time zone such as `UTC` or `Europe/Berlin`',
      json: { type: 'string', minLength: 1, maxLength: 64 },
    },
  )
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
