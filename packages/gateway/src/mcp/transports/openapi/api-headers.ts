import { HeaderBlock } from '../../../net/header-block.ts'
import type { ApiRequest } from './encode-request.ts'

/** Headers of a request to the API: what the document declares, and of the client's own only what says whose request it is. */
export function apiHeaders({ headers, cookies, accept, body }: ApiRequest, ofClient: HeaderBlock): HeaderBlock {
  const all = new HeaderBlock()
  ofClient.forEach((name, value) => {
    if (isPassedOn(name.toLowerCase())) all.add(name, value)
  })
  all.set('accept', accept)
  all.set('accept-encoding', 'identity')
  if (body !== null) all.set('content-type', body.contentType)
  if (cookies.length > 0) all.set('cookie', [all.get('cookie') ?? [], cookies].flat().join('; '))
  for (const [name, value] of headers) if (!all.has(name)) all.add(name, value)
  return all
}

/** Credentials are among them only where the config lets them through. */
function isPassedOn(name: string): boolean {
  return PASSED_ON.has(name) || name.startsWith('x-forwarded-')
}

const PASSED_ON = new Set([
  'authorization',
  'baggage',
  'cookie',
  'forwarded',
  'traceparent',
  'tracestate',
  'user-agent',
  'x-request-id',
])
