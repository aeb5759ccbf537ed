import type { BytesEdit, RawConnection, RawStream } from './exchange.ts'
import { contained, reportFault } from '../runtime/faults.ts'
import { spentBuffers } from '../socket/socket-reader.ts'

/** The result of a tunnel. */
export interface TunnelEnd {
  bytesToBackend: number
  bytesToClient: number
  /** The side whose connection broke before it had ended; null when both ended cleanly. */
  brokenBy: TunnelSide | null
  /** The side that ended its direction first; null when the gateway closed both before either side ended. */
  endedBy: TunnelSide | null
}

export type TunnelSide = 'client' | 'backend'

/**
 * Copies bytes in both directions until both have ended or one side breaks, and calls `done` once. When one side
 * breaks, the other is reset: a plain close would make a partial message look complete.
 */
export function splice(client: RawConnection, backend: RawConnection, done: (end: TunnelEnd) => void): void {
  const [a, b] = [client.socket, backend.socket]
  const startA = a.bytesWritten
  const startB = b.bytesWritten
  let open = 2
  let brokenBy: TunnelSide | null = null
  let endedBy: TunnelSide | null = null
  const closed = (other: RawStream) => (): void => {
    other.destroySoon()
    if (--open === 0) {
      const bytes = { bytesToBackend: b.bytesWritten - startB, bytesToClient: a.bytesWritten - startA }
      contained('request', () => done({ ...bytes, brokenBy, endedBy }))
    }
  }
  a.on('error', () => {
    // A side that has ended may be reset by later writes to it.
    if (a.readableEnded) return b.destroySoon()
    brokenBy ??= 'client'
    reset(b)
  })
  b.on('error', () => {
    if (b.readableEnded) return a.destroySoon()
    brokenBy ??= 'backend'
    reset(a)
  })
  a.once('end', () => (endedBy ??= 'client'))
  b.once('end', () => (endedBy ??= 'backend'))
  a.once('close', closed(b))
  b.once('close', closed(a))
  if (client.early !== null) b.write(client.early)
  const { early, edit } = backend
  if (early !== null) a.write(edit === undefined ? early : edit.push(early))
  // `pipe` ends the other side when one ends: a half-closed stream stays usable in the other direction.
  a.on('data', countSpent).pipe(b)
  b.on('data', countSpent)
  if (edit === undefined) b.pipe(a)
  else pipeEdited(b, a, edit)
  if (a.destroyed) b.destroy()
  if (b.destroyed) a.destroy()
}

/** Over TLS, the missing close_notify reveals the truncation to the peer. */
function reset(socket: RawStream): void {
  if ('encrypted' in socket || socket.destroyed) socket.destroy()
  else socket.resetAndDestroy()
}

function pipeEdited(from: RawStream, to: RawStream, edit: BytesEdit): void {
  const edited = (write: () => void) => (): void => {
    try {
      write()
    } catch (error) {
      // Bytes that could not be edited must not pass, and the truncated stream must not look complete.
      reset(from)
      reset(to)
      reportFault(error, 'request')
    }
  }
  from.on('data', (chunk: Buffer) =>
    edited(() => {
      const bytes = edit.push(chunk)
      if (bytes.length > 0 && !to.write(bytes)) from.pause()
    })(),
  )
  from.once(
    'end',
    edited(() => to.end(edit.end())),
  )
  to.on('drain', () => from.resume())
  // The previous owner has paused the socket; `pipe` would resume it too.
  from.resume()
}

function countSpent(chunk: Buffer): void {
  spentBuffers.count(chunk.length)
}
