import { object } from '../kit.ts'
import type { Output } from '../kit.ts'
import { otherRule, requiredWhen } from '../rules.ts'
import { framingHeaders } from './http-parts.ts'
import { duration, enumeration, string } from './values.ts'

/** A token in the place of such a header would break every response. */
const carriedByHeader = otherRule(
  '`sessionName` must not be a header that frames messages when `type` is `Header`',
  `self.type != 'Header' || !has(self.sessionName) || !(self.sessionName.lowerAscii() in ['${framingHeaders.join("', '")}'])`,
  ({ type, sessionName }) =>
    type !== 'Header' || typeof sessionName !== 'string' || !framingHeaders.includes(sessionName.toLowerCase()),
)

/** Session persistence of a route or of a backend; `owner` is the object that has a default name of its own. */
export const sessionPersistenceFields = (owner: 'route' | 'backend') =>
  object(
    {
      type: enumeration(['Cookie', 'Header'])
        .prefault('Cookie')
        .describe('How the session id is carried: in a cookie, or in a header of requests and responses.'),
      sessionName: string(
        { min: 1, max: 128 },
        { pattern: /^[!#$%&'*+.^_`|~A-Za-z0-9-]+$/, expected: 'a name of letters, digits, `-` and the like' },
      )
        .optional()
        .describe(`Name of the cookie or header; when unset, a name that is unique for the ${owner}.`),
      absoluteTimeout: duration({ min: '1s' })
        .optional()
        .describe('Lifetime of a session, used or not. When unset, the client decides how long it keeps the session.'),
      idleTimeout: duration({ min: '1s' })
        .optional()
        .describe('A session ends after this time without requests; no limit when unset.'),
      lifetimeType: enumeration(['Session', 'Permanent'])
        .prefault('Session')
        .describe(
          'Lifetime of the cookie: `Session` ends with the browser session, `Permanent` lasts for `absoluteTimeout`.',
        ),
      path: string({ min: 1, max: 1024 }, { pattern: /^\/[!#-:<-~]*$/, expected: 'a path without `;` and blanks' })
        .optional()
        .describe('Path of the cookie: browsers send it with requests below this path; `/` when unset.'),
    },
    [requiredWhen('absoluteTimeout', 'lifetimeType', 'Permanent'), carriedByHeader],
  )

export type SessionPersistenceConfig = Output<ReturnType<typeof sessionPersistenceFields>>
