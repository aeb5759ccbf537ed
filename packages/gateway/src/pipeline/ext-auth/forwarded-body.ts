import { readStart } from '../body/buffered-body.ts'
import type { RequestContext } from '../context/request-context.ts'

/** The start of a request body, as the authorizer gets it. */
export interface ForwardedBody {
  bytes: Buffer
  isPartial: boolean
}

/** Reads at most `maxSize` bytes of a request body for the authorizer; the backend gets the whole body. */
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

/** The header that tells the authorizer whether the body is partial; a client's own header of this name is removed. */
export const PARTIAL_HEADER = 'x-envoy-auth-partial-body'

/** Returns the value of `x-envoy-auth-partial-body`; null without a body. */
export function partialMark(body: ForwardedBody | null): string | null {
  return body === null || (body.bytes.length === 0 && !body.isPartial) ? null : String(body.isPartial)
}

function cut(bytes: Buffer, maxSize: number, hasMore: boolean): ForwardedBody {
  return { bytes: bytes.subarray(0, maxSize), isPartial: hasMore || bytes.length > maxSize }
}
