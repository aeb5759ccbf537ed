import { lstatSync, unlinkSync } from 'node:fs'
import type { Server } from 'node:http'
import * as net from 'node:net'
import type { AddressInfo, ListenOptions } from 'node:net'
import { formatHostPort } from './address.ts'
import type { Address } from './address.ts'

export interface Listening {
  /** `127.0.0.1:15000` or `unix:/path`, with the real port. */
  addresses: string[]
  servers: Server[]
}

type ListenResult = { ok: true; value: Listening } | { ok: false; problem: string }

/** Binds one server for each host of the address; nothing stays open when it fails. */
export async function listen(address: Address, createServer: () => Server): Promise<ListenResult> {
  if (address.kind === 'off') return { ok: true, value: { addresses: [], servers: [] } }
  if (address.kind === 'unix') return listenUnix(address.path, createServer)
  const servers: Server[] = []
  let port = address.port
  for (const host of address.hosts) {
    const server = createServer()
    const error = await bind(server, { host, port })
    if (error === null) {
      servers.push(server)
      // `localhost:0` means one port on both addresses.
      port = (server.address() as AddressInfo).port
    } else if (servers.length === 0 && host === '::' && NO_SUCH_FAMILY.has(error.code ?? '')) {
      return listen({ ...address, hosts: ['0.0.0.0'] }, createServer)
    } else if (servers.length === 0 || (address.port !== 0 && !NO_SUCH_FAMILY.has(error.code ?? ''))) {
      for (const open of servers) open.close()
      return listenFailure(formatHostPort(host, port), error)
    }
  }
  const addresses = servers.map((server) => {
    const bound = server.address() as AddressInfo
    return formatHostPort(bound.address, bound.port)
  })
  return { ok: true, value: { addresses, servers } }
}

const NO_SUCH_FAMILY = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EINVAL'])

async function listenUnix(path: string, createServer: () => Server): Promise<ListenResult> {
  for (const firstTry of [true, false]) {
    const server = createServer()
    const error = await bind(server, { path })
    if (error === null) return { ok: true, value: { addresses: [`unix:${path}`], servers: [server] } }
    if (error.code !== 'EADDRINUSE' || !firstTry || !(await isLeftBehind(path)))
      return listenFailure(`unix:${path}`, error)
    // Left behind by a process that was killed.
    unlinkSync(path)
  }
  throw new Error('unreachable: the second try returns')
}

function bind(server: Server, options: ListenOptions): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    server.once('error', resolve)
    server.once('listening', () => {
      server.removeListener('error', resolve)
      resolve(null)
    })
    // Only the user that runs the gateway may use its sockets; the file is made before listen() returns.
    const umask = options.path === undefined ? null : process.umask(0o177)
    try {
      server.listen(bound(options))
    } catch (error) {
      resolve(error as NodeJS.ErrnoException)
    }
    if (umask !== null) process.umask(umask)
  })
}

/** For an IPv4 address `listen` would make a pattern of IPv6 addresses, which is 5 ms of every start. Older runtimes know no other way. */
function bound(options: ListenOptions): ListenOptions {
  const { host, port } = options
  if (host === undefined || net.isIP(host) !== 4 || !('BoundSocket' in net)) return options
  return { handle: new net.BoundSocket({ host, port }) }
}

/** A socket file that nobody answers on; any other file stays. */
function isLeftBehind(path: string): Promise<boolean> {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() !== true) return Promise.resolve(false)
  return new Promise((resolve) => {
    const socket = net.connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'))
  })
}

function listenFailure(address: string, error: NodeJS.ErrnoException): ListenResult {
  const why = error.code === 'EADDRINUSE' ? 'it is in use by another program' : (error.code ?? error.message)
  return { ok: false, problem: `cannot listen on ${address}: ${why}` }
}
