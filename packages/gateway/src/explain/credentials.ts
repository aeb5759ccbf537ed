import type { Passing } from './explanation.ts'
import {
  configured,
  type Explainer,
  type Findings,
  numberIn,
  placeIn,
  type Subject,
  textIn,
  value,
  way,
} from './subject.ts'

interface Issuer {
  issuer?: unknown
  audiences?: unknown
}

/** Which check of a token failed, and what it saw. */
export const jwt: Explainer = (subject) => {
  const { reason, record } = subject
  const check = textIn(reason, 'check') ?? 'refused'
  const explained = JWT_CHECKS[check] ?? anyToken
  const seen = ['issuer', 'audience', 'subject', 'keyId', 'algorithm', 'expiresAt', 'notBefore']
    .filter((name) => reason.values[name] !== undefined)
    .map((name) => value(`token.${name}`, reason.values[name]))
  return {
    code: `jwt_${check}`,
    headline: `the token was refused: ${textIn(reason, 'reason') ?? 'it is not valid'}`,
    place: placeIn(subject),
    values: [...seen, ...(check === 'expired' || check === 'not_yet_valid' ? [value('time', isoTime(record.at))] : [])],
    ...explained(subject, issuersOf(subject)),
  }
}

type TokenExplainer = (subject: Subject, issuers: readonly Issuer[]) => Partial<Findings>

const anyToken: TokenExplainer = () => ({ wouldPass: [way('client', 'a token of a known issuer is sent')] })

const JWT_CHECKS: Readonly<Record<string, TokenExplainer>> = {
  no_token: (subject) => ({
    wouldPass: [
      way('client', `a token is sent in ${locationOf(subject)}`),
      way('config', '`mode` is Optional', { of: 'mode', found: 'Strict', value: 'Optional', place: placeIn(subject) }),
    ],
  }),
  several_tokens: (subject) => ({
    wouldPass: [way('client', `one token alone is sent in ${locationOf(subject)}`)],
  }),
  unknown_issuer: (subject, issuers) => ({
    place: placeIn(subject, 'providers'),
    wouldPass: issuers.flatMap(({ issuer }): Passing[] =>
      typeof issuer === 'string'
        ? [
            way('client', `the token is of the issuer ${issuer}`, {
              of: 'token.issuer',
              found: textIn(subject.reason, 'issuer'),
              relation: 'equals',
              value: issuer,
              place: placeIn(
                subject,
                'providers',
                issuers.findIndex((each) => each.issuer === issuer),
                'issuer',
              ),
            }),
          ]
        : [],
    ),
  }),
  wrong_audience: (subject, issuers) => {
    const index = Math.max(
      0,
      issuers.findIndex(({ issuer }) => issuer === subject.reason.values['issuer']),
    )
    const place = placeIn(subject, 'providers', index, 'audiences')
    const audiences = issuers[index]?.audiences
    const wanted = Array.isArray(audiences) ? audiences.map(String) : []
    return {
      place,
      wouldPass: [
        way('client', `the token is for ${wanted.join(' or ')}`, {
          of: 'token.audience',
          found: textIn(subject.reason, 'audience'),
          relation: 'oneOf',
          value: wanted,
          place,
        }),
      ],
    }
  },
  expired: ({ reason, record }) => ({
    wouldPass: [
      way(
        'client',
        `a newer token is sent: this one ended ${secondsBefore(numberIn(reason, 'expiresAt'), record.at)}`,
        {
          of: 'token.expiresAt',
          found: numberIn(reason, 'expiresAt'),
          relation: 'greater',
          value: Math.floor(record.at / 1000),
        },
      ),
    ],
  }),
  not_yet_valid: ({ reason }) => {
    const begins = numberIn(reason, 'notBefore')
    return { wouldPass: [way('time', `it is ${begins === null ? 'later' : isoTime(begins * 1000)}`)] }
  },
  unknown_key: (subject) => ({
    wouldPass: [
      way('client', 'the token is signed with a key that the issuer has now'),
      way('config', 'the key set has that key', { place: placeIn(subject, 'providers') }),
    ],
  }),
  keys_unavailable: (subject) => ({
    place: placeIn(subject, 'providers'),
    wouldPass: [way('backend', 'the key set of the issuer can be fetched', { place: placeIn(subject, 'providers') })],
  }),
}

export const apiKey: Explainer = (subject) => credential(subject, 'API key', 'api_key')
export const basic: Explainer = (subject) => credential(subject, 'user and password', 'basic')

function credential(subject: Subject, what: string, code: string): Findings {
  const { reason } = subject
  if (reason.code === 'busy') {
    return {
      code: 'basic_busy',
      headline: 'too many passwords are being checked',
      place: placeIn(subject),
      wouldPass: [way('time', 'a second has passed')],
    }
  }
  const check = textIn(reason, 'check') ?? 'refused'
  const place = placeIn(subject)
  const passes: Record<string, Passing[]> = {
    missing: [
      way('client', `an ${what} is sent in ${locationOf(subject)}`.replace('an user', 'a user')),
      way('config', '`mode` is Optional', { of: 'mode', found: 'Strict', value: 'Optional', place }),
    ],
    several: [way('client', `only one ${what} is sent in ${locationOf(subject)}`)],
  }
  return {
    code: `${code}_${check}`,
    headline: `the ${what} was refused: ${textIn(reason, 'reason') ?? 'it is not known'}`,
    place,
    values: [configured(subject, 'credential.location', locationOf(subject))],
    wouldPass: passes[check] ?? [
      way('client', `a known ${what} is sent`),
      way('config', 'it is in the list', { place }),
    ],
  }
}

function issuersOf({ held }: Subject): readonly Issuer[] {
  const config: { providers?: unknown; issuer?: unknown } = held?.config ?? {}
  if (Array.isArray(config.providers)) return config.providers as Issuer[]
  return config.issuer === undefined ? [] : [config]
}

/** `the header authorization`, as the config says it. */
function locationOf({ held, reason }: Subject): string {
  const location = held !== null && 'location' in held.config ? held.config.location : null
  for (const [kind, of] of Object.entries(location ?? {}) as [string, unknown][]) {
    if (typeof of === 'object' && of !== null && 'name' in of && typeof of.name === 'string') {
      return `the ${kind === 'queryParameter' ? 'query parameter' : kind} ${of.name}`
    }
  }
  return reason.kind === 'BasicAuth' ? 'the header authorization (Basic)' : 'the header authorization (Bearer)'
}

export function isoTime(millis: number): string {
  return new Date(millis).toISOString()
}

function secondsBefore(seconds: number | null, at: number): string {
  if (seconds === null) return 'before that'
  return `${Math.max(0, Math.round(at / 1000 - seconds))} s before, at ${isoTime(seconds * 1000)}`
}
