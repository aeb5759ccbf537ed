import type { Passing } from './explanation.ts'
import { configured, type Findings, placeIn, type Subject, textIn, remedy } from './subject.ts'

/** Why an API key, or a user and password, was refused. */
export function credential(subject: Subject, what: string, code: string): Findings {
  const { reason } = subject
  if (reason.code === 'busy') {
    return {
      code: 'basic_busy',
      headline: 'too many passwords are being checked',
      place: placeIn(subject),
      wouldPass: [remedy('time', 'a second has passed')],
    }
  }
  const check = textIn(reason, 'check') ?? 'refused'
  const place = placeIn(subject)
  const passes: Record<string, Passing[]> = {
    missing: [
      remedy('client', `the client sends ${what.startsWith('user') ? 'a' : 'an'} ${what} in ${locationOf(subject)}`),
      remedy('config', '`mode` is Optional', { of: 'mode', found: 'Strict', value: 'Optional', place }),
    ],
    several: [remedy('client', `the client sends only one ${what} in ${locationOf(subject)}`)],
    disabled: [remedy('config', `the ${what} is enabled`, { place })],
    expired: [remedy('client', `the client sends a newer ${what}`), remedy('config', '`expires` is later', { place })],
  }
  return {
    code: `${code}_${check}`,
    headline: `the ${what} was rejected: ${textIn(reason, 'reason') ?? 'it is unknown'}`,
    place,
    values: [configured(subject, 'credential.location', locationOf(subject))],
    wouldPass: passes[check] ?? [
      remedy('client', `the client sends a known ${what}`),
      remedy('config', `the policy lists this ${what}`, { place }),
    ],
  }
}

/** The configured location of the credential in words, such as `the header authorization`. */
export function locationOf({ held, reason }: Subject): string {
  const location = held !== null && 'location' in held.config ? held.config.location : null
  for (const [kind, of] of Object.entries(location ?? {}) as [string, unknown][]) {
    if (typeof of === 'object' && of !== null && 'name' in of && typeof of.name === 'string') {
      return `the ${kind === 'queryParameter' ? 'query parameter' : kind} ${of.name}`
    }
  }
  return reason.kind === 'BasicAuth' ? 'the header authorization (Basic)' : 'the header authorization (Bearer)'
}
