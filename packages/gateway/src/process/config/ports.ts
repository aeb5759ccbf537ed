import { createServer, type AddressInfo } from 'node:net'
import type { Bind } from '../../ir/resources.ts'

/**
 * Finds out whether a port can be had, and which one where the config leaves it open. Workers share ports with
 * `reusePort`, which would let a second gateway start on them in silence: so the main thread asks exclusively first.
 */
export async function claimPort(bind: Pick<Bind, 'port' | 'address'>): Promise<{ port: number } | { problem: string }> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve({ problem: describe(error, bind) }))
    server.listen({ port: bind.port, ...(bind.address !== '' && { host: bind.address }), exclusive: true }, () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve({ port }))
    })
  })
}

function describe(error: NodeJS.ErrnoException, bind: Pick<Bind, 'port' | 'address'>): string {
  const place = `${bind.address === '' ? '*' : bind.address}:${bind.port}`
  if (error.code === 'EADDRINUSE') return `${place} is in use by another program`
  if (error.code === 'EACCES') return `${place} needs more rights: ports below 1024 are reserved`
  return `${place}: ${error.message}`
}
