import { REDACTED, type RequestRecord } from '@portico/gateway/admin-api'

/** A recorded request in a form that can be sent again, with remarks on the missing parts. */
export interface ResendForm {
  readonly method: string
  readonly host: string
  readonly path: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
  readonly remarks: readonly string[]
}

/** `resendForm` returns null for connections and for messages that were no HTTP request. */
export function resendForm(record: RequestRecord): ResendForm | null {
  const { method, host, path, requestHeaders, requestBody, bytesIn, bind, keys } = record
  if (method === null || path === null || bind === null || keys.listener === null) return null
  const remarks: string[] = []
  const all = Object.entries(requestHeaders ?? {}).flatMap(([name, values]) =>
    (typeof values === 'string' ? [values] : values).map((value) => [name, value] as const),
  )
  const headers = all.filter(([name, value]) => !CONNECTION_HEADERS.has(name) && !isRedacted(value))
  if (requestHeaders === null) remarks.push('The headers were not recorded: the request is sent without headers.')
  const redacted = [...new Set(all.filter(([, value]) => isRedacted(value)).map(([name]) => name))]
  if (redacted.length > 0) remarks.push(`Credentials were redacted in the record: ${redacted.join(', ')}.`)
  if (isRedacted(path)) remarks.push('A credential in the path was redacted in the record.')
  const body = requestBody?.text ?? ''
  const size = Math.max(bytesIn, Number(all.find(([name]) => name === 'content-length')?.[1] ?? 0) || 0)
  if (body === '' && size > 0 && requestBody?.base64 == null)
    remarks.push(`The body (${size} bytes) was not recorded: frontend.recorder can record bodies.`)
  else if (requestBody?.isCut === true) remarks.push('Only the beginning of the body was recorded.')
  else if (requestBody !== null && requestBody.text === null)
    remarks.push('The body is not text and cannot be sent from here.')
  return { method, host: host ?? '', path, headers, body, remarks }
}

function isRedacted(value: string): boolean {
  return value.includes(REDACTED)
}

/** Headers that belong to one connection, or that clients and the gateway set anew for each request. */
export const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
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

/** A CEL expression that matches the next request with the same method and path. */
export function expressionFor({ method, path }: RequestRecord): string {
  const plain = (path ?? '/').split('?', 1)[0] ?? '/'
  return `request.method == ${JSON.stringify(method ?? 'GET')} && request.path == ${JSON.stringify(plain)}`
}
