import { sourceOf } from '@portico/http'
import type { UpstreamRequest } from '@portico/http/client'
import { spliceJson } from '@portico/http/json'
import { splitTarget } from '../../../formats/query-parameters.ts'
import { namesModel } from '../../../llm/edits/request-edits.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import { type JsonBody, modelInPath } from '../client-request.ts'

/** The model that a request names, which passes unchanged otherwise; null when it names none. */
export function modelOfRaw({ target }: UpstreamRequest, body: JsonBody | null): string | null {
  if (body !== null && namesModel(body.value)) return body.value.model
  return modelInPath(splitTarget(target)[0])
}

/** Replaces the name of the model where the client has put it. Every other byte stays. */
export function renameModel(
  request: UpstreamRequest,
  body: JsonBody | null,
  { name, sent, rx }: { name: string; sent: string; rx: RequestContext },
): void {
  if (name === sent) return
  if (body !== null && namesModel(body.value)) {
    const bytes = spliceJson(body, new Map([['model', sent]]))
    rx.body = request.body = sourceOf(bytes)
    request.headers.remove('content-length')
    // The spliced body is decoded.
    request.headers.remove('content-encoding')
    return
  }
  const [path, query] = splitTarget(request.target)
  const at = path.lastIndexOf(`/${name}`) + 1
  const renamed = path.slice(0, at) + encodeURIComponent(sent) + path.slice(at + name.length)
  request.target = query === '' ? renamed : `${renamed}?${query}`
}
