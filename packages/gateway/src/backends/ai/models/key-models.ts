import type { Failure } from '../../../pipeline/context/failure.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import { LlmRecord } from '../../../records/llm-record.ts'

/** Whether the API key of the client may use the model that the client names. */
export function keyAllows({ keyUse }: RequestContext, name: string): boolean {
  return keyUse === null || keyUse.allowsModel(name)
}

/**
 * The failure of a request whose key may not use its model. A key that is limited to some models needs a request that
 * names one: `name` is null when the gateway cannot tell.
 */
export function refuseForKey(rx: RequestContext, name: string | null): Failure | null {
  if (rx.keyUse?.limitsModels !== true || (name !== null && keyAllows(rx, name))) return null
  const record = (rx.llm ??= new LlmRecord())
  record.requestModel = record.clientModel = (name ?? '').slice(0, LONGEST_NAME)
  const failure = name === null ? UNNAMED : notAllowed(record.requestModel)
  rx.notes = { code: failure.code, model: record.requestModel }
  return failure
}

export function notAllowed(name: string): Failure {
  const message = `the model \`${name}\` exists, but this client may not use it`
  return { status: 403, message, reason: 'Authorization', code: 'model_not_allowed' }
}

const UNNAMED: Failure = {
  status: 403,
  message: 'this client may use only some models, and the request names none',
  reason: 'Authorization',
  code: 'model_not_allowed',
}
/** Longest model name in messages and records, in characters; clients choose the name. */
const LONGEST_NAME = 256
