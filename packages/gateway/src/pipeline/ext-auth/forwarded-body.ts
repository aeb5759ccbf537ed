import { readStart } from '../body/buffered-body.ts'
import type { RequestContext } from '../context/request-context.ts'

/** The beginning of a body that an authorizer gets. */
export interface ForwardedBody {
  bytes: Buffer
  isPartial: boolean
}

/** Reads so much of the body of a request as the authorizer may have; the backend gets all of it. */
export function readForwarded(rx: RequestContext, maxSize: number): ForwardedBody | Promise<ForwardedBody | null> {
  const { bufferedBody } = rx
  if (bufferedBody !== null) {
    return cut(bufferedBody.whole ?? bufferedBody.prefix, maxSize, bufferedBody.whole === null)
  }
  if (rx.body.length === 0) return { bytes: Buffer.alloc(0), isPartial: false }
  return new Promise((resolve) => {
    void readStart(rx.body, maxSize, ({ prefix, whole }, rest, cause) => {
      rx.body = rest
      resolve(cause === null ? cut(whole ?? prefix, maxSize, whole === null) : null)
    })
  })
}

/** Tells the authorizer whether it has the whole body; a client that sends the header itself says nothing of that. */
export const PARTIAL_HEADER = 'x-envoy-auth-partial-body'

/** What the authorizer is told of it, in the header `x-envoy-auth-partial-body`; nothing where there is no body. */
export function partialMark(body: ForwardedBody | null): string | null {
  return body === null || (body.bytes.length === 0 && !body.isPartial) ? null : String(body.isPartial)
}

function cut(bytes: Buffer, maxSize: number, hasMore: boolean): ForwardedBody {
  return { bytes: bytes.subarray(0, maxSize), isPartial: hasMore || bytes.length > maxSize }
}
