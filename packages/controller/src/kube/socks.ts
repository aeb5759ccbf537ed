import { connect, isIPv4, isIPv6, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'

/** The host of a URL, without the brackets of IPv6. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

interface HostAndPort {
  host: string
  port: number
}

/** Connects through a SOCKS5 proxy (RFC 1928), which resolves the name; with TLS inside when options are given. */
export async function connectBySocks(proxy: URL, place: HostAndPort, tls: ConnectionOptions | null): Promise<Socket> {
  const socket = connect({ host: hostOf(proxy), port: Number(proxy.port || '1080'), noDelay: true })
  socket.on('error', () => undefined)
  socket.setTimeout(LIMIT_MS, () => socket.destroy(new Error('proxy timed out')))
  try {
    await askForWay(socket, proxy, place)
  } catch (error) {
    socket.destroy()
    throw error
  }
  socket.setTimeout(0)
  return tls === null ? socket : connectTls({ ...tls, socket })
}

async function askForWay(socket: Socket, { username, password }: URL, { host, port }: HostAndPort): Promise<void> {
  const read = readerOf(socket)
  const hasPassword = username !== '' || password !== ''
  socket.write(Buffer.from(hasPassword ? [VERSION, 2, NOBODY, BY_PASSWORD] : [VERSION, 1, NOBODY]))
  const [version, method] = await read(2)
  if (version !== VERSION) throw new Error('proxy does not speak SOCKS5')
  if (method === BY_PASSWORD && hasPassword) {
    socket.write(Buffer.concat([Buffer.from([1]), withLength(username), withLength(password)]))
    const [, refused] = await read(2)
    if (refused !== 0) throw new Error('proxy rejected the user name or password')
  } else if (method !== NOBODY) throw new Error('proxy requires an unsupported authentication method')
  const ports = Buffer.alloc(2)
  ports.writeUInt16BE(port)
  socket.write(Buffer.concat([Buffer.from([VERSION, CONNECT, 0]), addressOf(host), ports]))
  const [, failure, , kind] = await read(4)
  if (failure !== 0) throw new Error(`proxy could not connect to the server: ${FAILURES[failure ?? -1] ?? 'failed'}`)
  // The proxy's own address in the reply is skipped.
  const length = kind === IPV4 ? 4 : kind === IPV6 ? 16 : ((await read(1))[0] ?? 0)
  await read(length + 2)
}

const VERSION = 5
const NOBODY = 0
const BY_PASSWORD = 2
const CONNECT = 1
const [IPV4, NAME, IPV6] = [1, 3, 4] as const
const LIMIT_MS = 10_000
const FAILURES = [
  '',
  'failed',
  'not allowed',
  'network unreachable',
  'host unreachable',
  'connection refused',
  'expired',
  'not supported',
  'kind of address not supported',
]

function addressOf(host: string): Buffer {
  if (isIPv4(host)) return Buffer.from([IPV4, ...host.split('.').map(Number)])
  if (isIPv6(host)) return Buffer.from([IPV6, ...bytesOfIpv6(host)])
  return Buffer.concat([Buffer.from([NAME]), withLength(host)])
}

/** Parses IPv6 as written in a URL: hex groups, in which `::` stands for zeros. */
function bytesOfIpv6(host: string): number[] {
  const [before = [], after = []] = host.split('::').map((half) => half.split(':').filter((group) => group !== ''))
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after]
  return groups.flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 255])
}

/** A text after its length in one byte. */
function withLength(text: string): Buffer {
  const bytes = Buffer.from(decodeURIComponent(text))
  if (bytes.length > 255) throw new Error('proxy user name, password or host is longer than 255 bytes')
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}

/** Reads exactly `count` bytes per call, and leaves the rest in the socket. */
function readerOf(socket: Socket): (count: number) => Promise<Buffer> {
  return (count) =>
    new Promise((resolve, reject) => {
      const take = (): void => {
        const bytes = socket.read(count) as Buffer | null
        if (bytes !== null) end(() => resolve(bytes))
      }
      const fail = (error?: Error): void => end(() => reject(error ?? new Error('proxy closed the connection')))
      const closed = (): void => fail()
      const end = (settle: () => void): void => {
        socket.off('readable', take).off('error', fail).off('close', closed)
        settle()
      }
      socket.on('readable', take).on('error', fail).on('close', closed)
      take()
    })
}
