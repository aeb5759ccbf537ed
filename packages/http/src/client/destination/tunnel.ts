import type { Tunnel } from '../pool/dial.ts'
import type { RawStream } from '../../exchange/exchange.ts'
import { latin1 } from '../../http1/chars.ts'
import { mayBecomeResponse, MessageHead, parseResponseHead } from '../../http1/head.ts'
import { UpstreamError } from '../upstream-types.ts'
import type { Destination } from './destination.ts'

interface TunnelOptions {
  name: string
  key: string
  proxy: Destination
  /** Value of `Proxy-Authorization`, or null. */
  credentials: string | null
}

/** Creates a tunnel that uses HTTP CONNECT. Names are sent to the proxy, which resolves them. */
export function createTunnel({ name, key, proxy, credentials }: TunnelOptions): Tunnel {
  const authorization = credentials === null ? '' : `proxy-authorization: ${credentials}\r\n`
  return {
    name,
    key,
    takesAddresses: false,
    open(target, trail, done) {
      let giveUp = (): void => call.cancel()
      const fail = (code: UpstreamError['code'], reason: string): void =>
        done(new UpstreamError(code, `tunnel through ${name}: ${reason}`, true))
      const call = proxy.connect(UNWATCHED, (outcome) => {
        if (outcome instanceof UpstreamError) return fail(outcome.code, outcome.message)
        const socket = outcome
        giveUp = () => socket.destroy()
        socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${authorization}${trail?.line ?? ''}\r\n`)
        readReply(socket, (problem) => {
          if (problem === null) return done(socket)
          socket.destroy()
          fail('connect_failed', problem)
        })
      })
      return () => giveUp()
    },
  }
}

/** Reads only the head of the reply: the bytes after it belong to the target and go back into the stream. */
function readReply(socket: RawStream, done: (problem: string | null) => void): void {
  let received = Buffer.alloc(0)
  const settle = (problem: string | null): void => {
    socket.off('readable', onReadable)
    socket.off('close', onClose)
    socket.off('end', onClose)
    if (problem === null) socket.off('error', onError)
    done(problem)
  }
  const onReadable = (): void => {
    const chunk = socket.read() as Buffer | null
    if (chunk === null) return
    received = Buffer.concat([received, chunk])
    const end = received.indexOf('\r\n\r\n')
    if (end === -1 ? received.length > MAX_HEAD : end + 4 > MAX_HEAD)
      return settle('the reply of the proxy is too long')
    if (end === -1) {
      if (!mayBecomeResponse(received, 0, 0)) settle('the reply of the proxy is malformed')
      return
    }
    const rest = received.subarray(end + 4)
    if (rest.length > 0) socket.unshift(rest)
    settle(problemOf(latin1(received, 0, end + 4)))
  }
  const onClose = (): void => settle('the proxy closed the connection')
  // The error handler stays after a failure, which destroys the socket.
  const onError = (): void => {}
  socket.on('error', onError)
  socket.on('readable', onReadable)
  socket.on('end', onClose)
  socket.on('close', onClose)
}

function problemOf(text: string): string | null {
  const head = parseResponseHead(text, MAX_HEADERS)
  if (!(head instanceof MessageHead)) return 'the reply of the proxy is malformed'
  if (head.status === 200) return null
  if (head.status === 407) return 'the proxy answered 407, it wants other credentials'
  return `the proxy answered ${head.status}`
}

const UNWATCHED = { hops: '', connectingTo: () => {} }
const MAX_HEAD = 8192
const MAX_HEADERS = 100
