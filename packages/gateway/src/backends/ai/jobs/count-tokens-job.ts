import type { JsonBody } from '../client-request.ts'
import { applyEdits, countAt, spliceJson } from '@portico/http/json'
import { type ClientFormat, type JsonObject, UnsupportedField, type UpstreamFormat } from '@portico/chat'
import { countTokens, decodeBedrockCountTokens, encodeBedrockCountTokens } from '@portico/chat/tokens'
import type { HeaderBlock } from '@portico/http'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { WholeJob } from './whole-call.ts'

/**
 * Counts the tokens of a Messages request: by the provider if it can count, otherwise by a tokenizer of the gateway.
 */
export function countTokensJob(
  { body, target, headers, rx }: { body: JsonBody; target: string; headers: HeaderBlock; rx: RequestContext },
  format: ClientFormat & UpstreamFormat,
): WholeJob {
  return {
    operation: 'count_tokens',
    format,
    prepare({ vendor, edits, guards }) {
      const edited = edits.request(body.value, null, rx)
      if (edited.model === '') return new UnsupportedField('model', 'missing field: model not specified')
      // A request with request guards is counted here, because the guards must see it before a provider does.
      const kind = guards.request === null ? vendor.tokenCount(edited.model) : null
      const { model } = edited
      const call = {
        kind: 'countTokens' as const,
        format: 'messages' as const,
        model,
        stream: false,
        clientTarget: target,
      }
      const readError = (status: number, bytes: Buffer) => format.decodeError(status, bytes)
      if (kind === null) {
        // Token counting needs no `max_tokens`, which the format otherwise requires.
        const request = format.decodeRequest({ max_tokens: 1, ...edited.body })
        if (request instanceof UnsupportedField) return request
        return { answer: counted(countTokens(request), rx) }
      }
      if (kind === 'bedrock') {
        const encoded = encodeBedrockCountTokens(edited.body)
        const bytes = Buffer.from(JSON.stringify(applyEdits(encoded, vendor.finishBody(encoded, call, headers))))
        return { call, bytes, readError, read: (answer) => noted(decodeBedrockCountTokens(answer), rx) }
      }
      const finished = vendor.finishBody(edited.body, call, headers)
      const bytes = spliceJson(body, new Map([...edited.edits, ...finished]))
      return { call, bytes, readError, read: (answer) => noted(answer, rx) }
    },
  }
}

async function counted(count: Promise<number>, rx: RequestContext): Promise<JsonObject> {
  return noted({ input_tokens: await count }, rx)
}

/** Records the count. A count is not usage. */
function noted<T extends JsonObject | null>(answer: T, rx: RequestContext): T {
  const count = answer === null ? undefined : countAt(answer, 'input_tokens')
  if (count !== undefined && rx.llm !== null) rx.llm.countedTokens = count
  return answer
}
