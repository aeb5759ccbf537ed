import { containedWork } from '@portico/http/faults'
import { makeMessage, type RpcMessage } from '../protocol.ts'
import { RemoteWaiter } from './remote-waiter.ts'
import type { Hub } from '../hub.ts'
import type { TargetFailure } from '../transport.ts'
import type { HostedStream } from './session-stream.ts'
import type { AwaitedRequest, StreamAsk, StreamReply } from './stream-mail.ts'

/** Lets other workers use a stream of this worker, until the returned function is called. */
export function hostStream(stream: HostedStream, address: string, hub: Hub): () => void {
  const waiters = new Map<string, RemoteWaiter>()

  function leave(reply: string): void {
    const waiter = waiters.get(reply)
    waiters.delete(reply)
    if (waiter === undefined) return
    stream.leave(waiter)
    waiter.drop()
  }

  function answer(reply: string, message: StreamReply): void {
    const sent = hub.send(reply, JSON.stringify(message)).then((isTaken) => {
      // The waiter has left, or its worker has died.
      if (!isTaken) leave(reply)
    })
    containedWork('request', sent)
  }

  function attend(reply: string, request: AwaitedRequest | null): void {
    const waiter = new RemoteWaiter(
      0,
      (message) => answer(reply, message),
      () => waiters.delete(reply),
    )
    waiter.flow = stream.flow
    waiters.set(reply, waiter)
    const awaited = request === null ? null : awaitedMessage(request)
    stream.join(awaited, waiter, (endpoint) => answer(reply, { kind: 'ready', endpoint }))
  }

  return hub.listen(address, (text) => {
    const message = JSON.parse(text) as StreamAsk
    switch (message.ask) {
      case 'attend':
        return attend(message.reply, message.request)
      case 'where':
        return stream.where((endpoint) => {
          if (endpoint === null) answer(message.reply, { kind: 'closed', call: 0 })
          else answer(message.reply, { kind: 'ready', endpoint })
        })
      case 'leave':
        return leave(message.reply)
      case 'alive':
        if (!waiters.has(message.reply)) answer(message.reply, { kind: 'failed', call: 0, failure: DIED })
        return
      case 'took':
        return waiters.get(message.reply)?.took(message.bytes)
      case 'stop':
        return stream.stop()
    }
  })
}

function awaitedMessage({ id, method, token }: AwaitedRequest): RpcMessage {
  return makeMessage({ jsonrpc: '2.0', id, method, params: { _meta: { progressToken: token } } })
}

export const DIED: TargetFailure = { code: 'broken', message: 'the worker with its stream died' }
