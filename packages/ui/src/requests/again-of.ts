import { REDACTED, type RequestRecord } from '@portico/gateway/admin-api'

/** A recorded request as it can be sent once more, and what of it is missing. */
export interface AgainForm {
  readonly method: string
  readonly host: string
  readonly path: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
  readonly remarks: readonly string[]
}

/** Null where there is nothing to send: a connection, or a message that never was a request. */
export function againOf(record: RequestRecord): AgainForm | null {
  const { method, host, path, requestHeaders, requestBody, bytesIn, bind, keys } = record
  if (method === null || path === null || bind === null || keys.listener === null) return null
  const remarks: string[] = []
  const all = Object.entries(requestHeaders ?? {}).flatMap(([name, values]) =>
    (typeof values === 'string' ? [values] : values).map((value) => [name, value] as const),
  )
  const headers = all.filter(([name, value]) => !OF_THE_CONNECTION.has(name) && !isHidden(value))
  if (requestHeaders === null) remarks.push('Its headers were not kept: it is sent without any.')
  const hidden = [...new Set(all.filter(([, value]) => isHidden(value)).map(([name]) => name))]
  if (hidden.length > 0) remarks.push(`Credentials were hidden before they were kept: ${hidden.join(', ')}.`)
  if (isHidden(path)) remarks.push('A credential in its path was hidden before it was kept.')
  const body = requestBody?.text ?? ''
  const size = Math.max(bytesIn, Number(all.find(([name]) => name === 'content-length')?.[1] ?? 0) || 0)
  if (body === '' && size > 0 && requestBody?.base64 == null)
    remarks.push(`Its body (${size} bytes) was not kept: frontend.recorder can keep bodies.`)
  else if (requestBody?.isCut === true) remarks.push('Only the beginning of its body was kept.')
  else if (requestBody !== null && requestBody.text === null)
    remarks.push('Its body is no text, and cannot be sent from here.')
  return { method, host: host ?? '', path, headers, body, remarks }
}

function isHidden(value: string): boolean {
  return value.includes(REDACTED)
}

/** What the gateway and its clients say of one connection, or set anew for each request. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'http2-settings',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
])

/** For the next request of the same kind. */
export function expressionFor({ method, path }: RequestRecord): string {
  const plain = (path ?? '/').split('?', 1)[0] ?? '/'
  return `request.method == ${JSON.stringify(method ?? 'GET')} && request.path == ${JSON.stringify(plain)}`
}
