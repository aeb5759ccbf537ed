import type { Socket } from 'node:net'
import { Deadline, type Deadlines } from './deadlines.ts'

/** 'more' asks again with more bytes; 'done' means the callback has taken over socket and bytes. */
export type FirstBytesVerdict = 'more' | 'done' | 'destroy'

/**
 * Collects the first bytes of a connection without starting its flow, so that whoever takes over (a TLS or HTTP/2
 * session) finds a socket that nothing has been lost from.
 */
export function readFirstBytes(
  socket: Socket,
  deadlines: Deadlines,
  timeoutMs: number,
  judge: (bytes: Buffer) => FirstBytesVerdict,
): void {
  let received: Buffer | null = null
  const deadline = new Deadline(() => socket.destroy())
  deadlines.set(deadline, timeoutMs)
  const onReadable = (): void => {
    const chunk = socket.read() as Buffer | null
    if (chunk === null) return
    received = received === null ? chunk : Buffer.concat([received, chunk])
    stop()
    const verdict = judge(received)
    if (verdict === 'more') start()
    else if (verdict === 'destroy') socket.destroy()
  }
  const onEnd = (): void => {
    socket.destroy()
  }
  const onClose = (): void => deadlines.clear(deadline)
  const start = (): void => {
    deadlines.set(deadline, timeoutMs)
    socket.on('readable', onReadable)
    socket.on('end', onEnd)
    socket.on('close', onClose)
  }
  const stop = (): void => {
    deadlines.clear(deadline)
    socket.off('readable', onReadable)
    socket.off('end', onEnd)
    socket.off('close', onClose)
  }
  start()
}
