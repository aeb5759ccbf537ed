import type { Socket } from 'node:net'
import type { RawConnection } from './exchange.ts'

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
  if (backend.early !== null) a.write(backend.early)
  // `pipe` ends the other side when one ends: a half-closed stream stays usable in the other direction.
  a.pipe(b)
  b.pipe(a)
  if (a.destroyed) b.destroy()
  if (b.destroyed) a.destroy()
}
