import { EventEmitter } from 'node:events'
import type { Http2Stream } from 'node:http2'

/**
 * Takes from a closed stream what it was to be told: the runtime's own part of it lives until the next collection of
 * the whole heap, and by its listeners so would everything that the request was made of.
 */
export function letGo(stream: Http2Stream): void {
  // That of streams puts off a look at what is left to the next tick.
  EventEmitter.prototype.removeAllListeners.call(stream)
  stream.on('error', ignore)
}

function ignore(): void {}
