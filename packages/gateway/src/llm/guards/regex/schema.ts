import { list, object, unheeded } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { regex } from '../../../schema/fields/names.ts'
import { enumeration } from '../../../schema/fields/values.ts'

const builtin = enumeration(['Ssn', 'CreditCard', 'PhoneNumber', 'Email', 'CaSin'])

const action = enumeration(['Mask', 'Reject'])
const forAnswers = '`Mask`: answers are masked, whole ones and streams; the other guards refuse them'

const looks = {
  matches: list(regex().describe('A pattern in RE2 syntax; matches are masked as `<masked>`.'), { max: 64 })
    .prefault([])
    .describe('Patterns to search for.'),
  builtins: list(
    builtin.describe(
      'Kind of data: `Ssn` (masked as `<SSN>`), `CreditCard` (`<CREDIT_CARD>`), `PhoneNumber` (`<PHONE_NUMBER>`), `Email` (`<EMAIL_ADDRESS>`), `CaSin` (`<CA_SIN>`).',
    ),
    { max: 5 },
  )
    .prefault([])
    .describe('Kinds of personal data to search for, in addition to `matches`.'),
}

function guardWith(does: typeof action) {
  return object({
    ...looks,
    action: does.prefault('Mask').describe('What happens to a request with a match. Responses are always masked.'),
  }).describe('Searches for patterns and personal data, in the gateway itself.')
}

export const regexGuard = guardWith(action)
export const regexGuardOfAnswers = guardWith(unheeded(action, 'Reject', forAnswers))

export type RegexGuardConfig = Output<typeof regexGuard>
export type Builtin = Output<typeof builtin>
