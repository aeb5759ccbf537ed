import { createServer } from 'node:net'
import { createSocket } from 'node:dgram'
import { type DoctorCheck, type DoctorFinding, fine } from '../check.ts'

/** Checks that the ports of the config can be opened on this machine. */
export const ports: DoctorCheck = {
  name: 'ports',
  summary: 'the ports of the config can be opened',
  run: ({ config }) =>
    Promise.all(
      config.ir.binds
        .filter(({ port }) => port > 0)
        .map(async ({ port, address, transport }) => {
          const about = `${transport === 'udp' ? 'UDP port' : 'port'} ${port}`
          const code = await (transport === 'udp' ? openUdp(port, address) : openTcp(port, address))
          return code === null ? fine(about, 'is free') : findingOf(about, port, code)
        }),
    ),
}

function findingOf(about: string, port: number, code: string): DoctorFinding {
  if (code === 'EADDRINUSE') {
    return {
      ...{ status: 'warning', about, finding: 'is in use by another program, or by the running gateway' },
      why: 'A gateway cannot start on a port that another program has.',
      fix: `Find the program with \`ss -ltnp 'sport = :${port}'\`; nothing is wrong if it is the gateway itself.`,
    }
  }
  if (code === 'EACCES') {
    return {
      ...{ status: 'problem', about, finding: 'may not be opened by this user' },
      why: 'Ports below 1024 need a right.',
      fix: 'Use a higher port, or run the gateway with the capability CAP_NET_BIND_SERVICE.',
    }
  }
  return {
    ...{ status: 'problem', about, finding: `cannot be opened: ${code}` },
    why: 'The gateway does not start without its ports.',
    fix: 'Correct `address` of the bind: it must be an address of this machine.',
  }
}

function openTcp(port: number, address: string): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ port, exclusive: true, ...(address !== '' && { host: address }) }, () =>
      server.close(() => resolve(null)),
    )
  })
}

function openUdp(port: number, address: string): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    socket.bind({ port, exclusive: true, ...(address !== '' && { address }) }, () => socket.close(() => resolve(null)))
  })
}
