import { containedWork } from '@portico/http/faults'
import type { Hub } from '../hub.ts'
import type { RpcMessage } from '../message.ts'
import type { AnswerPort } from '../engine/answer-port.ts'

/** Where the stream of a client of the old transport takes its mail. */
export function streamAddress(session: string): string {
  return `mcp-client:${session}`
}

/** Mail to such a stream: a message for the client, or the word that its targets can be listened to. */
export type StreamMail = { message: string } | { listen: true }

/** The answer to a client whose stream may be in another worker. */
export class MailAnswer implements AnswerPort {
  sessionId = ''
  readonly isElsewhere = true
  isOver = false
  readonly hasBegun = true
  readonly #hub: Hub
  readonly #address: string
  readonly #gone: () => void

  /** `gone` is told when nobody reads the stream any more. */
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

  /** Streams of the old transport do not go on once they are broken. */
  mark(): void {}

  respond(message: RpcMessage): void {
    this.say(message)
    this.isOver = true
  }

  /** HTTP errors of targets mean nothing here; whoever waits is told by `respond`. */
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
