import { HeaderBlock, sourceOf } from '@portico/http'
import type { UpstreamRequest, UpstreamResponse } from '@portico/http/client'
import { targetPath } from '../../../formats/query-parameters.ts'
import { type ModelListFormat, writeModel, writeModelList } from '../../../llm/providers/model-list.ts'
import { modelListFormat } from '../client-request.ts'

/** The list of models, in the format of the client's library. */
export function answerList(
  { target, headers }: UpstreamRequest,
  names: readonly string[],
  seconds: number,
): UpstreamResponse {
  const models = names.map((id) => ({ id }))
  return json(writeModelList(modelListFormat(targetPath(target), headers), models, seconds))
}

/** One model, in the format of the client's library. */
export function answerModel({ target, headers }: UpstreamRequest, id: string, seconds: number): UpstreamResponse {
  const format: ModelListFormat = modelListFormat(targetPath(target), headers)
  return json(writeModel(format, { id }, seconds))
}

/** The name in a request for one model, such as `GET /v1/models/smart`; null for other requests. */
export function askedModel({ method, target }: UpstreamRequest): string | null {
  const [, encoded] = method === 'GET' ? (/\/models\/(.+)$/.exec(targetPath(target)) ?? []) : []
  if (encoded === undefined) return null
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}

function json(body: object): UpstreamResponse {
  const headers = HeaderBlock.of([['content-type', 'application/json']])
  return { status: 200, headers, body: sourceOf(Buffer.from(JSON.stringify(body))) }
}
