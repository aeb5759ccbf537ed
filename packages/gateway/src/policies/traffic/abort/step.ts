import { isGrpcContentType } from '@portico/http/grpc'
import { fieldText } from '@portico/http'
import { failureReply } from '../../../pipeline/compiled/failure-reply.ts'
import { conditional } from '../../../pipeline/policy/conditional.ts'
import { noteRehearsal } from '../../../pipeline/policy/rehearsal.ts'
import { Reply } from '../../../pipeline/context/reply.ts'
import { implement } from '../../../pipeline/context/step.ts'
import type { AbortConfig } from './schema.ts'

export const abort = conditional(
  implement<AbortConfig>((config, env) => {
    const { status, grpcStatus, percentage = 100 } = config
    const body = config.body === undefined ? null : Buffer.from(config.body)
    const headers = (config.headers ?? []).map(({ name, value }) => [name, fieldText(value)] as const)
    const count = env.rehearsed(env.attachment, 'abort')
    return {
      request(rx) {
        if (env.random() * 100 >= percentage) return rx.trace?.skipped(`not in ${percentage} % of the requests`)
        count()
        const contentType = rx.headers.get('content-type')
        const isGrpc = contentType !== null && isGrpcContentType(contentType)
        const reply = failureReply({ status, message: MESSAGE, reason: 'Abort' }, contentType)
        if (isGrpc && grpcStatus !== undefined) reply.headers.set('grpc-status', String(grpcStatus))
        noteRehearsal(rx, `abort ${status}`)
        rx.note({ rehearsal: true, status, percentage })
        const isPlain = body === null || isGrpc
        if (!isPlain) reply.headers.remove('content-type')
        for (const [name, value] of headers) reply.headers.set(name, value)
        return isPlain ? reply : new Reply(status, { headers: reply.headers, body, reason: 'Abort' })
      },
    }
  }),
)

const MESSAGE = 'aborted by a rehearsal'
