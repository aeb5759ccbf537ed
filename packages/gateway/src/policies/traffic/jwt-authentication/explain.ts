import { locationOf } from '../../../findings/credentials.ts'
import type { Passing } from '../../../findings/explanation.ts'
import {
  type Explainer,
  type Findings,
  numberIn,
  placeIn,
  type Subject,
  textIn,
  value,
  remedy,
} from '../../../findings/subject.ts'
import { isoTime } from '../../../findings/words.ts'

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
    headline: `the token was rejected: ${textIn(reason, 'reason') ?? 'it is not valid'}`,
    place: placeIn(subject),
    values: [...seen, ...(check === 'expired' || check === 'not_yet_valid' ? [value('time', isoTime(record.at))] : [])],
    ...explained(subject, issuersOf(subject)),
  }
}

type TokenExplainer = (subject: Subject, issuers: readonly Issuer[]) => Partial<Findings>

const anyToken: TokenExplainer = () => ({ wouldPass: [remedy('client', 'the client sends a token of a known issuer')] })

const JWT_CHECKS: Readonly<Record<string, TokenExplainer>> = {
  no_token: (subject) => ({
    wouldPass: [
      remedy('client', `the client sends a token in ${locationOf(subject)}`),
      remedy('config', '`mode` is Optional', {
        of: 'mode',
        found: 'Strict',
        value: 'Optional',
        place: placeIn(subject),
      }),
    ],
  }),
  several_tokens: (subject) => ({
    wouldPass: [remedy('client', `the client sends only one token in ${locationOf(subject)}`)],
  }),
  unknown_issuer: (subject, issuers) => ({
    place: placeIn(subject, 'providers'),
    wouldPass: issuers.flatMap(({ issuer }): Passing[] =>
      typeof issuer === 'string'
        ? [
            remedy('client', `the token was issued by ${issuer}`, {
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
        remedy('client', `the token is for ${wanted.join(' or ')}`, {
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
      remedy(
        'client',
        `the client sends a newer token: this token expired ${secondsBefore(numberIn(reason, 'expiresAt'), record.at)}`,
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
    return {
      wouldPass: [
        remedy(
          'time',
          begins === null ? 'the token has become valid' : `the token is used after ${isoTime(begins * 1000)}`,
        ),
      ],
    }
  },
  unknown_key: (subject) => ({
    wouldPass: [
      remedy('client', 'the token is signed with a current key of the issuer'),
      remedy('config', 'the key set contains the key of the token', { place: placeIn(subject, 'providers') }),
    ],
  }),
  no_expiry: () => ({
    wouldPass: [
      remedy('client', 'the token says when it expires (`exp`)', { of: 'token.expiresAt', relation: 'present' }),
    ],
  }),
  wrong_algorithm: (subject) => ({
    wouldPass: [
      remedy('client', 'the token is signed with the algorithm of its key', {
        of: 'token.algorithm',
        found: textIn(subject.reason, 'algorithm'),
        relation: 'differs',
        value: textIn(subject.reason, 'algorithm'),
      }),
    ],
  }),
  wrong_signature: () => ({
    wouldPass: [remedy('client', 'the client sends the token unchanged, as its issuer signed it')],
  }),
  keys_unavailable: (subject) => ({
    place: placeIn(subject, 'providers'),
    wouldPass: [
      remedy('backend', 'the key set of the issuer can be fetched', { place: placeIn(subject, 'providers') }),
    ],
  }),
}

function issuersOf({ held }: Subject): readonly Issuer[] {
  const config: { providers?: unknown; issuer?: unknown } = held?.config ?? {}
  if (Array.isArray(config.providers)) return config.providers as Issuer[]
  return config.issuer === undefined ? [] : [config]
}

function secondsBefore(seconds: number | null, at: number): string {
  if (seconds === null) return 'before that'
  return `${Math.max(0, Math.round(at / 1000 - seconds))} s before, at ${isoTime(seconds * 1000)}`
}
