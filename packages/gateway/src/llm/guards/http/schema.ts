import { condition, expression } from '../../../schema/fields/expression.ts'
import { addedHeaderName } from '../../../schema/fields/http-parts.ts'
import { namedBackendReference } from '../../../schema/fields/references.ts'
import { duration, enumeration, integer, string } from '../../../schema/fields/values.ts'
import { list, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { atLeastOneOf } from '../../../schema/rules.ts'

/** Fields of every guard whose verdict comes from an HTTP service. */
export function guardCall() {
  return {
    timeout: duration({ min: '1ms', max: '10m' }).prefault('10s').describe('Time limit of each call.'),
    failureMode: enumeration(['FailClosed', 'FailOpen'])
      .prefault('FailClosed')
      .describe(
        'What happens when a call fails: `FailClosed` denies the request with status 503, `FailOpen` lets the text pass.',
      ),
  }
}

export type GuardCallConfig = { timeout: number; failureMode: 'FailClosed' | 'FailOpen' }

export const httpGuard = object(
  {
    backendRef: namedBackendReference().describe(
      'The guard service; its backend policies (credential, TLS) apply to the calls.',
    ),
    path: string({ min: 1, max: 2_048 }, { pattern: /^\/[!-"$-~]*$/, expected: 'a path that starts with `/`' })
      .prefault('/')
      .describe('Path and query of the calls.'),
    method: enumeration(['POST', 'PUT', 'PATCH']).prefault('POST').describe('Method of the calls.'),
    headers: list(
      object({
        name: addedHeaderName().describe('Name of the header.'),
        expression: expression('guard').describe('Its value; null omits the header.'),
      }).describe('A header.'),
      { max: 32, uniqueBy: 'name' },
    )
      .prefault([])
      .describe('Headers of the calls. No header of the client is forwarded otherwise.'),
    body: expression('guard').describe(
      'Body of the call, which is sent as JSON. `text` has all texts of the call joined by line breaks, `texts` is their list, `roles` has the role of each, `phase` is `request` or `response`, and `request.headers` are those of the client.',
    ),
    reject: condition('guardResponse')
      .optional()
      .describe(
        'Whether the texts are denied. `response.body` is the JSON body of the service, `response.code` its status. Anything but true or false is a failed call.',
      ),
    mask: expression('guardResponse')
      .optional()
      .describe(
        'Parts of the texts to mask: a list of maps with `start`, `end` and optionally `mask`, `index` (which of `texts`; all of `text` when unset) and `match` (the text that must stand there), or a list of new texts, one for each of `texts`. Null masks nothing.',
      ),
    found: expression('guardResponse').optional().describe('Names of the findings, as a list of strings, for traces.'),
    offsets: enumeration(['Characters', 'Utf16', 'Bytes'])
      .prefault('Characters')
      .describe(
        'Unit of `start` and `end`: `Characters` are Unicode code points, as in Python; `Utf16` is the unit of JavaScript, Java and C#; `Bytes` are those of UTF-8, as in Go.',
      ),
    maxTexts: integer({ min: 1, max: 1_000 }).prefault(1_000).describe('Most texts of one call.'),
    maxCharacters: integer({ min: 512, max: 1_000_000 })
      .prefault(100_000)
      .describe(
        'Most characters of one call. Longer texts are sent in parts that overlap, in several calls; a prompt that needs more than 32 calls is denied.',
      ),
    ...guardCall(),
  },
  [atLeastOneOf('reject', 'mask')],
).describe('Calls any HTTP service; expressions write its request and read its verdict.')

export type HttpGuardConfig = Output<typeof httpGuard>
