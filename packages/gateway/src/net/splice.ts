import type { Socket } from 'node:net'
import type { BytesEdit, RawConnection } from './exchange.ts'
import { spentBuffers } from './spent-buffers.ts'

/** Copies bytes both ways until both directions have ended or one side breaks. Calls `done` once with the byte counts. */
export function splice(
  client: RawConnection,
  backend: RawConnection,
  done: (bytesToBackend: number, bytesToClient: number) => void,
): void {
  const [a, b] = [client.socket, backend.socket]
  const startA = a.bytesWritten
  const startB = b.bytesWritten
  let open = 2
  const closed = (other: Socket) => (): void => {
    other.destroySoon()
    if (--open === 0) done(b.bytesWritten - startB, a.bytesWritten - startA)
  }
  a.on('error', () => b.destroy())
  b.on('error', () => a.destroy())
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

function pipeEdited(from: Socket, to: Socket, edit: BytesEdit): void {
  from.on('data', (chunk: Buffer) => {
    const bytes = edit.push(chunk)
    if (bytes.length > 0 && !to.write(bytes)) from.pause()
  })
  from.once('end', () => to.end(edit.end()))
  to.on('drain', () => from.resume())
  // As `pipe` does: whoever handed the socket over has paused it.
  from.resume()
}

function countSpent(chunk: Buffer): void {
  spentBuffers.count(chunk.length)
}
