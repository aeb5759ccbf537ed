import { conditionalPolicy, type PlainForm } from '../../../schema/fields/conditional.ts'
import { definePolicy } from '../../../schema/define-policy.ts'
import { expression } from '../../../schema/fields/expression.ts'
import { serviceReference } from '../../../schema/fields/references.ts'
import { boolean, duration, enumeration } from '../../../schema/fields/values.ts'
import { map, object } from '../../../schema/kit.ts'
import type { OtherRule } from '../../../schema/rules.ts'
import type { Output } from '../../../schema/kit.ts'

const bodyMode = (what: string) =>
  enumeration(['None', 'Streamed', 'Buffered', 'BufferedPartial', 'FullDuplexStreamed'])
    .prefault('FullDuplexStreamed')
    .describe(
      `How the processor gets the body of ${what}. \`None\`: not at all. \`Streamed\`: in chunks, with one reply for each chunk. \`Buffered\`: as a whole. \`BufferedPartial\`: only the beginning, up to \`maxBufferSize\`. \`FullDuplexStreamed\`: in chunks, and it sends the new body back at its own pace.`,
    )

const sendMode = (what: string) =>
  enumeration(['Send', 'Skip']).prefault('Send').describe(`Whether the processor gets ${what}.`)

const late = 'Trailers are always sent if the body is streamed.'

const processingOptions = object({
  requestHeaderMode: sendMode('the headers of requests'),
  requestBodyMode: bodyMode('requests'),
  requestTrailerMode: sendMode(`the trailers of requests. ${late}`),
  responseHeaderMode: sendMode('the headers of responses'),
  responseBodyMode: bodyMode('responses'),
  responseTrailerMode: sendMode(`the trailers of responses. ${late}`),
  allowModeOverride: boolean()
    .prefault(false)
    .describe('Whether the processor may change these modes for one request, with `mode_override`.'),
}).describe('The parts of requests and responses that the processor gets.')

const attributes = (phase: 'request' | 'responseHead', what: string) =>
  map(expression(phase).describe('The value.'), { min: 1, max: 64 })
    .optional()
    .describe(
      `Values that the processor gets with ${what}, as \`attributes\`, by name. A value whose expression fails is omitted.`,
    )

const OBSERVED_BODIES: OtherRule = {
  rule: 'other',
  cel: "!has(self.observabilityMode) || !self.observabilityMode || !has(self.processingOptions) || (!self.processingOptions.requestBodyMode.startsWith('Buffered') && !self.processingOptions.responseBodyMode.startsWith('Buffered'))",
  message: 'with `observabilityMode`, bodies are not buffered: use `None` or `Streamed`',
  holds: ({ observabilityMode, processingOptions }) =>
    observabilityMode !== true ||
    !Object.entries(processingOptions ?? {}).some(
      ([key, mode]) => key.endsWith('BodyMode') && String(mode).startsWith('Buffered'),
    ),
}

export const extProc = definePolicy({
  name: 'extProc',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  phases: ['PreRouting', 'PostRouting'],
  traceKey: 'extProc',
  schema: conditionalPolicy(
    {
      backendRef: serviceReference().describe('The processor; its backend policies apply to the calls.'),
      processingOptions: processingOptions.optional(),
      metadataContext: map(
        map(expression('request').describe('The value.'), { min: 1, max: 64 }).describe('Values of this namespace.'),
        { min: 1, max: 16 },
      )
        .optional()
        .describe(
          'Values that the processor gets with the first message, as `metadata_context`, by namespace and name. A value whose expression fails is omitted.',
        ),
      requestAttributes: attributes('request', 'the first message about a request'),
      responseAttributes: attributes('responseHead', 'the first message about a response'),
      failureMode: enumeration(['FailClosed', 'FailOpen'])
        .optional()
        .describe(
          'What happens when the processor fails: the request gets 500 (`FailClosed`, the default), or continues unchanged (`FailOpen`). It gets 500 in both modes if the processor holds bytes of a streamed body.',
        ),
      messageTimeout: duration({ min: '1ms' })
        .optional()
        .describe('Timeout for each expected message of the processor; 2s when unset.'),
      maxMessageTimeout: duration({ min: '1ms' })
        .optional()
        .describe(
          'Largest timeout that the processor may request with `override_message_timeout`, once for each message. When unset, such requests are ignored.',
        ),
      observabilityMode: boolean()
        .optional()
        .describe(
          'Sends the processor copies only and ignores its replies, so it cannot change, delay or fail a request. Bodies are sent in chunks.',
        ),
    },
    [OBSERVED_BODIES],
  ).describe('Calls an external processor that can read and change requests and responses, or respond itself.'),
})

export type ExtProcConfig = PlainForm<Output<typeof extProc.schema>>
