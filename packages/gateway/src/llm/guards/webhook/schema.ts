import { list, localForm, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { editableHeaderName } from '../../../schema/fields/http-parts.ts'
import { regex } from '../../../schema/fields/names.ts'
import { backendName, backendObjectReference } from '../../../schema/fields/references.ts'
import { exactlyOneOf } from '../../../schema/rules.ts'
import { enumeration, string } from '../../../schema/fields/values.ts'

const headerMatch = object({
  name: editableHeaderName().describe('Name of the header.'),
  value: object(
    {
      exact: string({ max: 4_096 }).optional().describe('The whole value, letter by letter.'),
      regex: regex().optional().describe('A pattern that the whole value must match.'),
    },
    [exactlyOneOf('exact', 'regex')],
  ).describe('What the value must be for the header to be sent.'),
}).describe('A header.')

export const webhookGuard = object({
  backendRef: localForm(
    object({ name: backendName({ fixed: true }).describe('Name of a backend of the top-level `backends`.') }),
    backendObjectReference(),
  ).describe('The backend that is asked; its policies hold for the connection.'),
  forwardHeaderMatches: list(headerMatch, { max: 64 })
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
