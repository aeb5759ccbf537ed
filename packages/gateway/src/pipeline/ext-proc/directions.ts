import type { ProcessingResponse } from '../../protos/envoy/service/ext_proc/v3/external_processor.ts'
import { Direction } from './direction.ts'
import type { Modes } from './modes.ts'
import type { Side } from './side.ts'
import type { Talk } from './talk.ts'

/** The directions of one exchange that the processor gets or got. */
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

  /** Whether the processor holds bytes of a body, so that the exchange cannot continue without it. */
  get isGivenAway(): boolean {
    return this.#request?.isGivenAway === true || this.#response?.isGivenAway === true
  }

  /** Those that have begun are done. */
  get isDone(): boolean {
    return this.#request?.isDone !== false && this.#response?.isDone !== false
  }

  /** Whether the processor gets nothing more, as when the response is not processed. */
  hasNothingLeft({ response: { sendsHeaders, body, sendsTrailers } }: Modes): boolean {
    if (!this.isDone) return false
    if (this.#response !== null) return true
    return this.#request !== null && !sendsHeaders && body === 'None' && !sendsTrailers
  }

  /** Passes a response to the direction that waits for it; returns false when none does. */
  hear(
    response: NonNullable<ProcessingResponse['response']>,
    { dynamicMetadata: metadata, modeOverride: override }: Pick<ProcessingResponse, 'dynamicMetadata' | 'modeOverride'>,
  ): boolean {
    const direction = response.$case.startsWith('request') ? this.#request : this.#response
    if (direction === null) return false
    switch (response.$case) {
      case 'requestHeaders':
      case 'responseHeaders':
        return direction.heard('headers', { common: response.value.response, mutation: undefined, metadata, override })
      case 'requestBody':
      case 'responseBody':
        return direction.heard('body', { common: response.value.response, mutation: undefined, metadata, override })
      case 'requestTrailers':
      case 'responseTrailers':
        return direction.heard('trailers', {
          common: undefined,
          mutation: response.value.headerMutation,
          metadata,
          override,
        })
      case 'immediateResponse':
        return false
    }
  }

  drained(): void {
    this.#request?.drained()
    this.#response?.drained()
  }

  /** The processor is gone: everything passes unchanged. */
  over(): void {
    this.#request?.over()
    this.#response?.over()
  }
}
