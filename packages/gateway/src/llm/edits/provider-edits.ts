import type { RequestContext } from '../../pipeline/request-context.ts'
import type { ChatRequest, JsonObject } from '../middle.ts'
import type { EditedRequest } from './request-edits.ts'

/** What the `ai` policy of a provider does to chats. */
export interface ProviderEdits {
  /** Model and fields, in the client's own format. */
  request(body: JsonObject, pathModel: string | null, rx: RequestContext): EditedRequest
  /** The conversation; gives the same object back where there is nothing to do. */
  shape(request: ChatRequest): ChatRequest
}
