import { createServer, isIPv4, type AddressInfo } from 'node:net'
import type { Bind } from '../../ir/resources.ts'

type BindPlace = Pick<Bind, 'port' | 'address' | 'transport'>

/**
 * Checks that a port is available, and picks one for port 0. Workers share ports with `reusePort`, which would let a
 * second gateway start on the same port unnoticed, so the main thread first opens the port exclusively.
 */
export async function claimPort(bind: BindPlace): Promise<{ port: number } | { problem: string }> {
  if (bind.transport === 'udp') return claimUdpPort(bind)
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve({ problem: describe(error, bind) }))
    server.listen({ port: bind.port, ...(bind.address !== '' && { host: bind.address }), exclusive: true }, () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve({ port }))
    })
  })
}

/** Imported on demand, because few configs have a UDP port. */
async function claimUdpPort(bind: BindPlace): Promise<{ port: number } | { problem: string }> {
  const { createSocket } = await import('node:dgram')
  return new Promise((resolve) => {
    const socket = createSocket(isIPv4(bind.address) ? 'udp4' : 'udp6')
    socket.once('error', (error) => resolve({ problem: describe(error, bind) }))
    socket.bind({ port: bind.port, address: bind.address === '' ? '::' : bind.address, exclusive: true }, () => {
      const { port } = socket.address()
      socket.close(() => resolve({ port }))
    })
  })
}

function describe(error: NodeJS.ErrnoException, bind: BindPlace): string {
  const place = `${bind.address === '' ? '*' : bind.address}:${bind.port}`
  if (error.code === 'EADDRINUSE') return `${place} is in use by another program`
  if (error.code === 'EACCES') return `${place} needs more privileges: ports below 1024 are reserved`
  return `${place}: ${error.message}`
}
