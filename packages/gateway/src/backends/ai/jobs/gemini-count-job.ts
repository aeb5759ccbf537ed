import {
  countAt,
  isObject,
  joinEdits,
  type JsonObject,
  type MemberEdits,
  NO_EDITS,
  spliceJson,
} from '@portico/http/json'
import { type ClientFormat, UnsupportedField, type UpstreamFormat } from '@portico/chat'
import { countTokens } from '@portico/chat/tokens'
import type { HeaderBlock } from '@portico/http'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { JsonBody } from '../client-request.ts'
import { isNameOf, PATH_MEMBERS } from '../gemini-request.ts'
import type { WholeJob } from './whole-call.ts'

/** A request to Google's API whose body has the model of the path. */
export interface GeminiJobParts {
  body: JsonBody
  target: string
  headers: HeaderBlock
  rx: RequestContext
}

/** Counts the tokens of a Gemini request: by Google if the model is Google's, otherwise by a tokenizer of the gateway. */
export function geminiCountJob(
  { body, target, headers, rx }: GeminiJobParts,
  format: ClientFormat & UpstreamFormat,
): WholeJob {
  return {
    operation: 'count_tokens',
    format,
    prepare({ vendor, edits, guards }) {
      const { model, edits: own, body: edited } = edits.request(body.value, null, rx)
      if (model === '') return new UnsupportedField('model', 'missing field: model not specified')
      const wrapped = wrappedRequest(edited)
      if (wrapped?.model !== undefined && !isNameOf(wrapped.model, body.value['model'])) {
        return new UnsupportedField('generateContentRequest.model', 'must be the model of the path')
      }
      // A request with request guards is counted here, because the guards must see it before a provider does.
      if (guards.request !== null || vendor.hasGoogleCalls?.(model, 'countTokens') !== true) {
        const request = format.decodeRequest({ ...(wrapped ?? edited), model })
        return request instanceof UnsupportedField ? request : { answer: counted(countTokens(request), rx) }
      }
      const call = { kind: 'countTokens', format: 'gemini', model, stream: false, clientTarget: target } as const
      const renamed: MemberEdits =
        wrapped?.model === undefined
          ? NO_EDITS
          : new Map([['generateContentRequest', { ...wrapped, model: `models/${model}` }]])
      const all = joinEdits(own, vendor.finishBody(edited, call, headers), renamed, PATH_MEMBERS)
      const readError = (status: number, bytes: Buffer) => format.decodeError(status, bytes)
      return { call, bytes: spliceJson(body, all), readError, read: (answer) => noted(answer, rx) }
    },
  }
}

/** The whole request of a chat, which clients may count instead of its contents. */
function wrappedRequest({ generateContentRequest, generate_content_request: other }: JsonObject): JsonObject | null {
  const wrapped = generateContentRequest ?? other
  return isObject(wrapped) ? wrapped : null
}

async function counted(count: Promise<number>, rx: RequestContext): Promise<JsonObject> {
  return noted({ totalTokens: await count }, rx)
}

/** Records the count. A count is not usage. */
function noted(answer: JsonObject, rx: RequestContext): JsonObject {
  const count = countAt(answer, 'totalTokens')
  if (count !== undefined && rx.llm !== null) rx.llm.countedTokens = count
  return answer
}
