import { containedWork } from '@portico/http/faults'
import type { Hub } from '../hub.ts'
import type { RpcMessage } from '../protocol.ts'
import type { AnswerPort } from '../engine/answer-port.ts'

/** Returns the hub address of a client's stream of revision 2024-11-05. */
export function streamAddress(session: string): string {
  return `mcp-client:${session}`
}

/** A hub message to such a stream: a message for the client, or the signal to listen to the targets. */
type StreamMail = { message: string } | { listen: true }

/** The response to a client whose stream may be in another worker. */
export class MailAnswer implements AnswerPort {
  sessionId = ''
  readonly isElsewhere = true
  isOver = false
  readonly hasBegun = true
  readonly #hub: Hub
  readonly #address: string
  readonly #gone: () => void

  /** `gone` is called when the stream has been closed. */
  constructor(hub: Hub, session: string, gone: () => void) {
    this.#hub = hub
    this.#address = streamAddress(session)
    this.#gone = gone
  }

  startListening(): void {
    this.#send({ listen: true })
  }

  preferEvents(): void {}

  say(message: RpcMessage): boolean {
    if (!this.isOver) this.#send({ message: message.bytes.toString('utf8') })
    return true
  }

  /** Does nothing: streams of revision 2024-11-05 cannot be resumed. */
  mark(): void {}

  respond(message: RpcMessage): void {
    this.say(message)
    this.isOver = true
  }

  /** Sends nothing: there is no HTTP response here, and JSON-RPC responses are sent by `respond`. */
  whole(): void {
    this.isOver = true
  }

  end(): void {
    this.isOver = true
  }

  drop(): void {
    this.isOver = true
  }

  #send(mail: StreamMail): void {
    const sent = this.#hub.send(this.#address, JSON.stringify(mail)).then((isTaken) => {
      if (!isTaken) this.#gone()
    })
    containedWork('request', sent)
  }
}
