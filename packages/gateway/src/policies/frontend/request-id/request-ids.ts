import { randomUUID } from 'node:crypto'
import type { RequestIds } from '../../../pipeline/run/run-services.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import { rangeMatcher } from '@portico/http/client'
import type { ForwardedHeadersConfig } from '../forwarded-headers/schema.ts'
import type { RequestIdConfig } from './schema.ts'

/** The source of new ids: a request has the same id in its record, in logs and in headers. */
interface RecordIds {
  idOf(rx: RequestContext): string | null
}

/**
 * Returns the source of request ids. Without the policy, logs and records use the ids that trusted peers send, and no
 * header is added. Null when there is neither a policy nor a trusted peer, so that requests cost nothing.
 */
export function requestIdentifiers(
  config: RequestIdConfig | undefined,
  forwarded: ForwardedHeadersConfig | undefined,
  records: RecordIds,
): RequestIds | null {
  const trusts = trustIn(forwarded)
  const header = config?.header ?? 'x-request-id'
  if (config === undefined) {
    if (trusts === null) return null
    return {
      begin(rx) {
        if (trusts(rx.connection.rawAddress)) rx.requestId = idIn(rx, header)
      },
      answering() {},
    }
  }
  return {
    begin(rx) {
      rx.requestId = trusts !== null && trusts(rx.connection.rawAddress) ? idIn(rx, header) : null
      if (rx.requestId !== null) return
      rx.requestId = records.idOf(rx) ?? randomUUID()
      rx.headers.removeAlike(header)
      rx.headers.addChecked(header, rx.requestId)
    },
    answering(rx) {
      if (rx.requestId === null) return
      // A backend may name its response itself; a response of the gateway always has the request's id.
      if (rx.isFromBackend && (!config.inResponses || rx.responseHeaders.has(header))) return
      rx.responseHeaders.set(header, rx.requestId)
    },
  }
}

/** The same peers whose `x-forwarded-*` are believed. */
function trustIn(forwarded: ForwardedHeadersConfig | undefined): ((address: string) => boolean) | null {
  if (forwarded === undefined) return null
  return forwarded.mode === 'Replace' ? rangeMatcher(forwarded.trustedProxies) : () => true
}

/** The id of the header if it is safe in logs; null when the header is repeated. */
function idIn({ headers }: RequestContext, header: string): string | null {
  const id = headers.get(header)
  return id !== null && USABLE.test(id) && headers.nth(header, 1) === null ? id : null
}

const USABLE = /^[\w.:/+=@-]{1,128}$/
