import { attributeName } from '../../telemetry/otlp/attributes.ts'
import { CLIENT } from '../../telemetry/otlp/span.ts'
import type { Cloud } from '../cloud-credentials.ts'
import type { SpanFamily } from './spanned-request.ts'

/** Begins the span of a fetch of a cloud credential; the returned function ends it. The span has no part of the credential. */
export function beginCredentialSpan(family: SpanFamily, cloud: Cloud): (reason: string | null) => void {
  const spanId = family.newSpanId()
  const startedAt = family.tools.now()
  return (reason) => {
    const { traceId, spanId: parentId, tracestate, tools } = family
    const { encoder, removed } = tools
    encoder.begin({
      traceId,
      spanId,
      parentId,
      hasRemoteParent: false,
      tracestate,
      name: 'credentials',
      kind: CLIENT,
      startMs: family.wall(startedAt),
      endMs: family.wall(tools.now()),
    })
    if (!removed.has('portico.call')) encoder.attribute(CALL, 'credentials')
    if (!removed.has('portico.cloud')) encoder.attribute(CLOUD, cloud)
    if (reason !== null) encoder.attribute(ERROR_TYPE, 'no_credentials')
    encoder.end(reason)
  }
}

const CALL = attributeName('portico.call')
const CLOUD = attributeName('portico.cloud')
const ERROR_TYPE = attributeName('error.type')
