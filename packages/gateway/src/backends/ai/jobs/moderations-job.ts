import { objectAt, countAt, textAt } from '@portico/http/json'
import { callReadings, type ClientFormat, UnsupportedField, type UpstreamFormat } from '@portico/chat'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { JsonBody } from '../client-request.ts'
import { checkedBody } from './edited-body.ts'
import type { WholeJob } from './whole-call.ts'

/** Moderations in OpenAI's format, which are forwarded unchanged. */
export function moderationsJob(
  { body, target, rx }: { body: JsonBody; target: string; rx: RequestContext },
  format: ClientFormat & UpstreamFormat,
): WholeJob {
  return {
    operation: 'moderation',
    format,
    guarded: ({ edits }) => ({ body: edits.request(body.value, null, rx).body, reading: callReadings.moderations }),
    prepare({ vendor, edits }, guarded) {
      const { model, bytes } = checkedBody(body, edits.request(body.value, null, rx), guarded)
      if (!vendor.calls.has('moderations')) return new UnsupportedField('model', `${vendor.name} has no moderations`)
      return {
        call: { kind: 'moderations', format: 'completions', model, stream: false, clientTarget: target },
        bytes: bytes(),
        read(answer, _headers, record) {
          if (!Array.isArray(answer.results)) return null
          record.responseModel = textAt(answer, 'model') ?? ''
          record.responseId = textAt(answer, 'id') ?? ''
          // OpenAI reports no tokens; servers that imitate it may.
          const input = countAt(objectAt(answer, 'usage'), 'prompt_tokens')
          record.usage = { calls: 1, ...(input !== undefined && { input, providerInput: input }) }
          return answer
        },
        readError: (status, bytes_) => format.decodeError(status, bytes_),
        translation: { from: 'moderations.openai', to: 'moderations.openai', losses: [] },
      }
    },
  }
}
