import { object } from '../../kit.ts'
import { editableHeaderName } from '../http-parts.ts'
import { exactlyOneOf } from '../../rules.ts'
import { string } from '../values.ts'

/** The location of a credential in a request. */
export function credentialLocation() {
  return object(
    {
      header: object({
        name: editableHeaderName().describe('Name of the header.'),
        prefix: string(
          { min: 1, max: 256 },
          { pattern: /^[\x20-\x7e]+$/, expected: 'text of 1 to 256 printable characters' },
        )
          .optional()
          .describe('Text before the credential, including the space, such as `Bearer `; case-insensitive.'),
      })
        .optional()
        .describe('The credential is in a header.'),
      queryParameter: object({ name: string({ min: 1, max: 256 }).describe('Name of the query parameter.') })
        .optional()
        .describe('The credential is in a query parameter.'),
      cookie: object({
        name: string(
          { min: 1, max: 256 },
          { pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, expected: 'the name of a cookie' },
        ).describe('Name of the cookie.'),
      })
        .optional()
        .describe('The credential is in a cookie.'),
    },
    [exactlyOneOf('header', 'queryParameter', 'cookie')],
  )
}
