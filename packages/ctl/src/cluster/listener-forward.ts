import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import type { PortForward } from '@portico/controller/kube'

/** A socket, accessible to this user only, that is forwarded to a port of a Pod. */
export interface ListenerForward {
  socketPath: string
  /** The error of the node for a failed connection; null when there was none. */
  problem(): string | null
  close(): Promise<void>
}

export async function forwardListener(forward: PortForward, port: number): Promise<ListenerForward> {
  const folder = await mkdtemp(join(tmpdir(), 'porticoctl-'))
  const socketPath = join(folder, 'listener')
  let last: string | null = null
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    forward.connect(port).then(
      ({ stream, problem }) => {
        void problem.then((text) => (last = text ?? last))
        pipeline(socket, stream, () => {})
        pipeline(stream, socket, () => {})
      },
      (error: Error) => {
        last = error.message
        socket.destroy()
      },
    )
  })
  server.listen(socketPath)
  await once(server, 'listening')
  return {
    socketPath,
    problem: () => last,
    async close() {
      server.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
