import { spawn } from 'node:child_process'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Pod } from './pod.ts'
import { type SpdyStream } from './spdy.ts'
import { acceptSpdy } from './spdy-upgrade.ts'

const DIAL = fileURLToPath(new URL('dial.ts', import.meta.url))

/** Connections to ports of a Pod's own loopback: each is a pair of streams, one for data and one for what went wrong. */
export function servePortForward(pod: Pod, request: IncomingMessage, socket: Duplex): void {
  const errorById = new Map<string, Duplex>()
  acceptSpdy({ request, socket, protocols: ['portforward.k8s.io'] }, ({ headers, stream }: SpdyStream) => {
    const id = headers.get('requestid') ?? ''
    if (headers.get('streamtype') === 'error') {
      errorById.set(id, stream)
      // It is closed at once by the other end, which only reads it.
      stream.resume()
    } else forward(pod, Number(headers.get('port')), stream, errorById.get(id))
  })
}

function forward(pod: Pod, port: number, stream: Duplex, problems: Duplex | undefined): void {
  const [program, ...args] = [...pod.network.prefix, process.execPath, DIAL, String(port)]
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  stream.pipe(child.stdin)
  child.stdin.on('error', () => undefined)
  child.stdout.pipe(stream)
  let problem = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (problem += text))
  child.on('close', () => {
    if (problem !== '') problems?.write(Buffer.from(problem.trim()))
    problems?.end()
    stream.end()
  })
  stream.on('close', () => child.kill('SIGKILL'))
}
