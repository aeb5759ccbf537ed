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
      `How the processor gets the body of ${what}: not at all; piece by piece, with one answer for each piece (\`Streamed\`); whole; its beginning (as much as \`maxBufferSize\` allows); or piece by piece, while it sends the new body back at its own pace (\`FullDuplexStreamed\`).`,
    )

const sendMode = (what: string) =>
  enumeration(['Send', 'Skip']).prefault('Send').describe(`Whether the processor gets ${what}.`)

const late = 'Always, where a body is streamed.'

const processingOptions = object({
  requestHeaderMode: sendMode('the headers of requests'),
  requestBodyMode: bodyMode('requests'),
  requestTrailerMode: sendMode(`the trailers of requests. ${late}`),
  responseHeaderMode: sendMode('the headers of responses'),
  responseBodyMode: bodyMode('responses'),
  responseTrailerMode: sendMode(`the trailers of responses. ${late}`),
  allowModeOverride: boolean()
    .prefault(false)
    .describe('Whether the processor may change these for one request, with `mode_override`.'),
}).describe('Which parts of a request and its response the processor gets.')

const attributes = (phase: 'request' | 'responseHead', what: string) =>
  map(expression(phase).describe('Its value.'), { min: 1, max: 64 })
    .optional()
    .describe(
      `Values that the processor gets with ${what}, as \`attributes\`, by name. One whose expression fails is left out.`,
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
      backendRef: serviceReference().describe('The processor; its backend policies hold for the calls.'),
      processingOptions: processingOptions.optional(),
      metadataContext: map(
        map(expression('request').describe('Its value.'), { min: 1, max: 64 }).describe('Values of this namespace.'),
        { min: 1, max: 16 },
      )
        .optional()
        .describe(
          'Values that the processor gets with the first message, as `metadata_context`, by namespace and name. One whose expression fails is left out.',
        ),
      requestAttributes: attributes('request', 'the first message about a request'),
      responseAttributes: attributes('responseHead', 'the first message about a response'),
      failureMode: enumeration(['FailClosed', 'FailOpen'])
        .optional()
        .describe(
          'What happens when the processor fails: the request is answered with 500 (`FailClosed`, the default), or goes on as it is, unless bytes of a streamed body were given away already.',
        ),
      messageTimeout: duration({ min: '1ms' })
        .optional()
        .describe('How long the processor may be silent when it is its turn to speak; 2s when unset.'),
      maxMessageTimeout: duration({ min: '1ms' })
        .optional()
        .describe(
          'The longest timeout that the processor may ask for with `override_message_timeout`, once for each message; such requests are ignored when unset.',
        ),
      observabilityMode: boolean()
        .optional()
        .describe(
          'Sends the processor a copy of each message and waits for no answer: it cannot change, delay or fail a request. Bodies go piece by piece as they pass.',
        ),
    },
    [OBSERVED_BODIES],
  ).describe('Lets an outside processor look at requests and responses, change them, or answer itself.'),
})

export type ExtProcConfig = PlainForm<Output<typeof extProc.schema>>
