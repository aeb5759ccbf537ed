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
      exact: string({ max: 4_096 }).optional().describe('The exact value.'),
      regex: regex().optional().describe('A pattern that the whole value must match.'),
    },
    [exactlyOneOf('exact', 'regex')],
  ).describe('The header is sent only if its value matches.'),
}).describe('A header.')

/** The same header match in the syntax of Gateway API. */
const headerMatchOfResource = object({
  name: matchedHeader(),
  type: enumeration(['Exact', 'RegularExpression'])
    .prefault('Exact')
    .describe('Whether `value` is the whole value, or a pattern that the whole value must match.'),
  value: string({ min: 1, max: 4_096 }).describe('The header is sent only if its value matches.'),
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
    : new Refusal('bad_format', { detail: 'found an invalid RE2 pattern' })
}

export const webhookGuard = object({
  backendRef: namedBackendReference().describe('The webhook; its backend policies apply to the calls.'),
  forwardHeaderMatches: list(localForm(headerMatch, headerMatchOfResource, settleMatch), { max: 64 })
    .prefault([])
    .describe(
      "Headers that are forwarded: from the client's request to `/request`, from the provider's response to `/response`. No other headers are forwarded.",
    ),
  failureMode: enumeration(['FailClosed', 'FailOpen'])
    .prefault('FailClosed')
    .describe(
      'What happens when the call fails: `FailClosed` denies the request with status 503, `FailOpen` lets the text pass.',
    ),
}).describe('Calls your own server: `POST /request` for prompts, `POST /response` for responses.')

export type WebhookGuardConfig = Output<typeof webhookGuard>
