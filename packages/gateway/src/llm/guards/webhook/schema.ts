import { list, localForm, object, Refusal } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { editableHeaderName } from '../../../schema/fields/http-parts.ts'
import { regex } from '../../../schema/fields/names.ts'
import { namedBackendReference } from '../../../schema/fields/references.ts'
import { exactlyOneOf } from '../../../schema/rules.ts'
import { validate } from '../../../schema/validate.ts'
import { enumeration, string } from '../../../schema/fields/values.ts'

const headerMatch = object({
  name: matchedHeader(),
  value: object(
    {
      exact: string({ max: 4_096 }).optional().describe('The whole value, letter by letter.'),
      regex: regex().optional().describe('A pattern that the whole value must match.'),
    },
    [exactlyOneOf('exact', 'regex')],
  ).describe('What the value must be for the header to be sent.'),
}).describe('A header.')

/** The same header match in the syntax of Gateway API. */
const headerMatchOfResource = object({
  name: matchedHeader(),
  type: enumeration(['Exact', 'RegularExpression'])
    .prefault('Exact')
    .describe('Whether `value` is the whole value, or a pattern that the whole value must match.'),
  value: string({ min: 1, max: 4_096 }).describe('What the value must be for the header to be sent.'),
}).describe('A header.')

function matchedHeader() {
  return editableHeaderName().describe('Name of the header.')
}

function settleMatch({
  name,
  type,
  value,
}: Output<typeof headerMatchOfResource>): Output<typeof headerMatch> | Refusal {
  if (type === 'Exact') return { name, value: { exact: value } }
  const pattern = validate(regex(), value)
  return pattern.ok
    ? { name, value: { regex: value } }
    : new Refusal('bad_format', { detail: 'found no pattern of RE2' })
}

export const webhookGuard = object({
  backendRef: namedBackendReference().describe('The backend that is asked; its policies hold for the connection.'),
  forwardHeaderMatches: list(localForm(headerMatch, headerMatchOfResource, settleMatch), { max: 64 })
    .prefault([])
    .describe(
      'Headers that are sent along: of the request to `/request`, of the answer of the provider to `/response`. No others are.',
    ),
  failureMode: enumeration(['FailClosed', 'FailOpen'])
    .prefault('FailClosed')
    .describe(
      'What happens when the webhook cannot be asked: `FailClosed` refuses with status 503, `FailOpen` lets the texts pass.',
    ),
}).describe('Asks a server of your own: `POST /request` for prompts, `POST /response` for answers.')

export type WebhookGuardConfig = Output<typeof webhookGuard>
