import type { ProcessingResponse } from '../../../protos/envoy/service/ext_proc/v3/external_processor.ts'
import { Direction } from './direction.ts'
import type { Modes } from './modes.ts'
import type { Side } from './side.ts'
import type { Talk } from './talk.ts'

/** The directions of one exchange that are, or were, talked about. */
export class Directions {
  #request: Direction | null = null
  #response: Direction | null = null

  begin(side: Side, talk: Talk): Direction {
    const direction = new Direction(side, talk)
    if (side.name === 'request') this.#request = direction
    else this.#response = direction
    return direction
  }

  get isFull(): boolean {
    return this.#request?.isFull === true || this.#response?.isFull === true
  }

  /** It is the processor's turn to speak. */
  get isOwed(): boolean {
    return this.#request?.isOwed === true || this.#response?.isOwed === true
  }

  /** The processor has what is needed to go on without it. */
  get isGivenAway(): boolean {
    return this.#request?.isGivenAway === true || this.#response?.isGivenAway === true
  }

  /** Those that have begun are done. */
  get isDone(): boolean {
    return this.#request?.isDone !== false && this.#response?.isDone !== false
  }

  /** Nothing is to come: a response that nobody processes need not be waited for. */
  hasNothingLeft({ response: { sendsHeaders, body, sendsTrailers } }: Modes): boolean {
    if (!this.isDone) return false
    if (this.#response !== null) return true
    return this.#request !== null && !sendsHeaders && body === 'None' && !sendsTrailers
  }

  /** Hands an answer to the direction that asked for it; false where none did. */
  hear(
    response: NonNullable<ProcessingResponse['response']>,
    { dynamicMetadata: metadata, modeOverride: override }: Pick<ProcessingResponse, 'dynamicMetadata' | 'modeOverride'>,
  ): boolean {
    const direction = response.$case.startsWith('request') ? this.#request : this.#response
    if (direction === null) return false
    const beside = { metadata, override }
    switch (response.$case) {
      case 'requestHeaders':
      case 'responseHeaders':
        return direction.heard('headers', { common: response.value.response, ...beside })
      case 'requestBody':
      case 'responseBody':
        return direction.heard('body', { common: response.value.response, ...beside })
      case 'requestTrailers':
      case 'responseTrailers':
        return direction.heard('trailers', { mutation: response.value.headerMutation, ...beside })
      case 'immediateResponse':
        return false
    }
  }

  drained(): void {
    this.#request?.drained()
    this.#response?.drained()
  }

  /** There is no processor any more: everything goes on as it is. */
  over(): void {
    this.#request?.over()
    this.#response?.over()
  }
}
