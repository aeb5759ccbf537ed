import { definePolicy } from '../../../schema/define-policy.ts'
import { framingHeaders } from '../../../schema/fields/http-parts.ts'
import { enumeration, duration, string } from '../../../schema/fields/values.ts'
import { object } from '../../../schema/kit.ts'
import { otherRule, requiredWhen } from '../../../schema/rules.ts'
import type { Output } from '../../../schema/kit.ts'

/** A token in their place would break every answer. */
const carriedByHeader = otherRule(
  '`sessionName` must not be a header that frames messages when `type` is `Header`',
  `self.type != 'Header' || !has(self.sessionName) || !(self.sessionName.lowerAscii() in ['${framingHeaders.join("', '")}'])`,
  ({ type, sessionName }) =>
    type !== 'Header' || typeof sessionName !== 'string' || !framingHeaders.includes(sessionName.toLowerCase()),
)

export const sessionPersistence = definePolicy({
  name: 'sessionPersistence',
  section: 'traffic',
  attach: ['route'],
  merge: 'replace',
  fileOnly: true,
  schema: object(
    {
      type: enumeration(['Cookie', 'Header'])
        .prefault('Cookie')
        .describe('What clients show again: a cookie, or a header of requests and responses.'),
      sessionName: string(
        { min: 1, max: 128 },
        { pattern: /^[!#$%&'*+.^_`|~A-Za-z0-9-]+$/, expected: 'a name of letters, digits, `-` and the like' },
      )
        .optional()
        .describe('Name of the cookie or header; one that no other route has when unset.'),
      absoluteTimeout: duration({ min: '1s' })
        .optional()
        .describe('How long a session lasts, used or not; as long as the client keeps it when unset.'),
      idleTimeout: duration({ min: '1s' })
        .optional()
        .describe('How long it lasts without requests; for ever when unset.'),
      lifetimeType: enumeration(['Session', 'Permanent'])
        .prefault('Session')
        .describe('Of a cookie: `Session` leaves its end to the browser, `Permanent` keeps it for `absoluteTimeout`.'),
    },
    [requiredWhen('absoluteTimeout', 'lifetimeType', 'Permanent'), carriedByHeader],
  ).describe('Sends all requests of a client to the backend, and to the address, that got its first one.'),
})

export type SessionPersistenceConfig = Output<typeof sessionPersistence.schema>
