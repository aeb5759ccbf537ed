import type { Duplex } from 'node:stream'
import { Deadline, type Deadlines } from '../runtime/deadlines.ts'

/**
 * Closes a socket so that the last response survives: closing while the peer still sends would reset the connection,
 * and the response would be lost. Data that arrives meanwhile is dropped, up to a limit.
 */
export function lingeringClose(socket: Duplex & { destroySoon(): void }, deadlines: Deadlines): void {
  let dropped = 0
  const deadline = new Deadline(() => socket.destroy())
  socket.on('data', (chunk: Buffer) => {
    dropped += chunk.length
    if (dropped > MAX_DROPPED) socket.destroy()
  })
  socket.on('end', () => socket.destroySoon())
  socket.on('close', () => deadlines.clear(deadline))
  deadlines.set(deadline, LINGER_MS)
  socket.end()
  socket.resume()
}

const LINGER_MS = 2000
const MAX_DROPPED = 1024 * 1024
