import { randomUUID } from 'node:crypto'
import { objectAt } from '@portico/http/json'
import { SUBSCRIPTION_ID } from '../conversation.ts'
import { withId, withParams } from '../edit.ts'
import { requestId, type RpcMessage } from '../protocol.ts'
import type { AnswerSink } from '../transport.ts'

/** Replaces the id and progress token of a request by unique ones; `sink` restores the client's in the messages that follow. */
export function withOwnId(
  message: RpcMessage,
  answer: AnswerSink,
): { sent: RpcMessage; sink: AnswerSink; own: string } {
  const own = `portico-${randomUUID()}`
  const meta = objectAt(objectAt(message.value, 'params'), '_meta')
  const { progressToken } = meta
  const named = withId(message, own)
  const sent = progressToken === undefined ? named : withParams(named, { _meta: { ...meta, progressToken: own } })
  const restore = (said: RpcMessage): RpcMessage => {
    if (said.kind === 'response') return said.id === own ? withId(said, requestId(message)) : said
    const params = objectAt(said.value, 'params')
    if (progressToken !== undefined && params.progressToken === own) return withParams(said, { progressToken })
    const about = objectAt(params, '_meta')
    if (about[SUBSCRIPTION_ID] !== own) return said
    return withParams(said, { _meta: { ...about, [SUBSCRIPTION_ID]: requestId(message) } })
  }
  return {
    sent,
    own,
    sink: {
      opened: () => answer.opened?.(),
      message: (said, eventId) => answer.message(restore(said), eventId),
      mark: (eventId, retryMs) => answer.mark?.(eventId, retryMs),
      closed: () => answer.closed(),
      failed: (failure) =>
        answer.failed(failure.error === undefined ? failure : { ...failure, error: restore(failure.error) }),
    },
  }
}
