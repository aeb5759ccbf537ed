import type { Passing } from './explanation.ts'
import { placeIn, type Subject, textIn, remedy } from './subject.ts'

/** Returns the remedy for a failed external service: `failureMode: FailOpen` lets requests pass without it. */
export function failOpen(subject: Subject): Passing {
  return remedy('config', '`failureMode` is FailOpen', {
    of: 'failureMode',
    found: textIn(subject.reason, 'failureMode') ?? 'FailClosed',
    relation: 'equals',
    value: 'FailOpen',
    place: placeIn(subject),
  })
}
