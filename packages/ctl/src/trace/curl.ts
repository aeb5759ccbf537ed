import { spawn } from 'node:child_process'
import type { PortRange } from './local-ports.ts'

export interface Injection {
  /** The port of the listener: on this machine, or on the Pod that `via` leads to. */
  readonly port: number
  /** The URL. Its host becomes the Host header and the TLS server name; it is never resolved. */
  readonly url: string
  /** Arguments that are passed to curl directly, never through a shell. */
  readonly args: readonly string[]
  /** A socket that is forwarded to this port of a Pod. */
  readonly via?: {
    readonly socketPath: string
    readonly label: string
    /** The error of the forwarding; null when there is none. */
    readonly problem: () => string | null
  }
}

interface CurlOptions extends Injection {
  readonly localPorts: PortRange | null
  /**
   * Whether curl may read standard input: not while the UI reads keys. Without it, curl has no terminal for prompts
   * either.
   */
  readonly mayReadInput: boolean
}

export type CurlEnd =
  | { readonly kind: 'missing' }
  | {
      readonly kind: 'exited'
      /** The exit code; null when a signal ended curl. */
      readonly code: number | null
      readonly output: Buffer
      readonly errors: string
      /** Whether the output was truncated. */
      readonly isCut: boolean
    }

interface RunningCurl {
  readonly ended: Promise<CurlEnd>
  readonly stop: () => void
}

const MAX_KEPT_BYTES = 1024 * 1024

/** Exit codes of curl without a request sent: bad arguments or URL, no connection, no TLS. */
const NOTHING_SENT = new Set([1, 2, 3, 4, 5, 6, 7, 26, 35, 45, 58, 59, 60, 66, 77, 80, 82, 83, 90, 91])
const COULD_NOT_CONNECT = 7
const COULD_NOT_BIND = 45

export function startCurl(options: CurlOptions): RunningCurl {
  const child = spawn('curl', curlArguments(options), {
    stdio: [options.mayReadInput ? 'inherit' : 'ignore', 'pipe', 'pipe'],
    detached: !options.mayReadInput,
  })
  const output = collect(child.stdout)
  const errors = collect(child.stderr)
  const ended = new Promise<CurlEnd>((resolve) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') resolve({ kind: 'missing' })
      else
        resolve({ kind: 'exited', code: null, output: Buffer.alloc(0), errors: `curl: ${error.message}`, isCut: false })
    })
    child.on('close', (code) =>
      resolve({
        kind: 'exited',
        code,
        output: output.bytes(),
        errors: errors.bytes().toString(),
        isCut: output.isCut(),
      }),
    )
  })
  return { ended, stop: () => child.kill() }
}

/** Options that redirect the request to this machine come first, because the first --connect-to match wins. */
export function curlArguments({ port, url, args, localPorts, via }: Omit<CurlOptions, 'mayReadInput'>): string[] {
  return [
    '--silent',
    '--show-error',
    '--noproxy',
    '*',
    ...(via === undefined ? ['--connect-to', `::127.0.0.1:${port}`] : ['--unix-socket', via.socketPath]),
    ...(localPorts === null ? [] : ['--local-port', `${localPorts.first}-${localPorts.last}`]),
    '--url',
    url,
    ...args,
  ]
}

export function hasSentNothing(end: CurlEnd, { via }: Injection): boolean {
  if (via !== undefined && via.problem() !== null) return true
  return end.kind === 'missing' || (end.code !== null && NOTHING_SENT.has(end.code))
}

export function couldNotBind(end: CurlEnd): boolean {
  return end.kind === 'exited' && end.code === COULD_NOT_BIND
}

/** Why curl failed, in one line; null when it succeeded. */
export function curlProblem(end: CurlEnd, { port, via }: Injection): string | null {
  if (end.kind === 'missing')
    return 'curl was not found: install it, or leave out the URL and send the request yourself'
  if (end.code === 0) return null
  const said = via?.problem() ?? null
  if (via !== undefined && said !== null)
    return `nothing answers on port ${port} of ${via.label}: give the port of a listener with --port (${said.split('\n')[0]})`
  if (end.code === COULD_NOT_CONNECT)
    return `nothing listens on 127.0.0.1:${port}: give the port of a listener with --port`
  const complaint = end.errors.split('\n').find(isComplaint)
  return complaint ?? `curl ended with ${end.code === null ? 'a signal' : `exit code ${end.code}`}`
}

/** Whether the line is an error, not a note of curl -v. */
export function isComplaint(line: string): boolean {
  return line.startsWith('curl: ')
}

function collect(stream: NodeJS.ReadableStream) {
  const chunks: Buffer[] = []
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    if (size < MAX_KEPT_BYTES) chunks.push(chunk.subarray(0, MAX_KEPT_BYTES - size))
    size += chunk.length
  })
  return { bytes: () => Buffer.concat(chunks), isCut: () => size > MAX_KEPT_BYTES }
}
