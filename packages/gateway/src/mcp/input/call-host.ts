import type { Hub } from '../hub/hub.ts'
import { Flow } from '../remote/flow.ts'
import { RemoteWaiter } from '../remote/remote-waiter.ts'
import { callAddress, type CallAsk, type CallReply, type Leg } from './call-mail.ts'
import type { WaitingCall } from './waiting-call.ts'

/** Lets whichever worker gets the next request of the client go on with a call, until the returned function is called. */
export function hostCall(call: WaitingCall, hub: Hub): () => void {
  let current: { reply: string; waiter: RemoteWaiter } | null = null
  let isFull = false
  const flow = new Flow({
    maxBytes: MAX_HELD_BYTES,
    full: () => (isFull = true),
    drained: () => {
      isFull = false
      call.resume()
    },
  })

  function answer(reply: string, message: CallReply): void {
    void hub.send(reply, JSON.stringify(message)).then((isTaken) => {
      if (!isTaken) leave(reply)
    })
  }

  /** Who went on with the call is gone: whoever closes the stream of a request has given it up. */
  function leave(reply: string): void {
    if (current?.reply !== reply) return
    current.waiter.drop()
    current = null
    call.abandon(LEFT)
  }

  function attend(reply: string, leg: Leg): void {
    const waiter = new RemoteWaiter(
      0,
      (message) => answer(reply, message),
      () => {},
    )
    waiter.flow = flow
    const ids = call.attend(leg, {
      sink: {
        message(message) {
          const said = call.inWordsOf(message, leg)
          if (said?.kind === 'response') waiter.response(said)
          else if (said !== null) waiter.message(said)
          return !isFull
        },
        closed: () => waiter.closed(),
        failed: ({ code, message }) => waiter.failed({ code, message }),
      },
      asked(round, questions) {
        current = null
        const texts = questions.map(([key, { bytes }]): [string, string] => [key, bytes.toString('utf8')])
        answer(reply, { kind: 'asks', round, questions: texts })
        waiter.closed()
      },
    })
    if (ids === null) return answer(reply, { kind: 'refused' })
    current = { reply, waiter }
    answer(reply, { kind: 'ready', ids })
  }

  return hub.listen(callAddress(call.key), (text) => {
    const message = JSON.parse(text) as CallAsk
    if (message.ask === 'attend') attend(message.reply, message.leg)
    else if (message.ask === 'leave') leave(message.reply)
    else if (message.ask === 'took' && current?.reply === message.reply) current.waiter.took(message.bytes)
  })
}

const LEFT = new Error('the client left')
const MAX_HELD_BYTES = 1024 * 1024
