import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Container } from './container.ts'
import type { Pod } from './pod.ts'
import { acceptSpdy } from './spdy-upgrade.ts'

type StreamType = 'error' | 'stdin' | 'stdout' | 'stderr'

/** A command in a container; each of its standard streams is a stream, and one tells how it ended. */
export function serveExec(
  pod: Pod,
  name: string,
  query: URLSearchParams,
  request: IncomingMessage,
  socket: Duplex,
): void {
  const container = pod.containers.find(({ spec }) => spec.name === name)
  if (container === undefined) return void socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n')
  const flags: readonly [string, StreamType][] = [
    ['input', 'stdin'],
    ['output', 'stdout'],
    ['error', 'stderr'],
  ]
  const wanted: StreamType[] = flags.flatMap(([flag, type]) => (query.get(flag) === '1' ? [type] : []))
  const streams = new Map<string, Duplex>()
  let isRunning = false
  const session = acceptSpdy({ request, socket, protocols: ['v4.channel.k8s.io'] }, ({ headers, stream }) => {
    streams.set(headers.get('streamtype') ?? '', stream)
    if (isRunning || !['error', ...wanted].every((type) => streams.has(type))) return
    isRunning = true
    void execute(container, query.getAll('command'), streams).finally(() => session?.close())
  })
}

async function execute(
  container: Container,
  command: readonly string[],
  streams: ReadonlyMap<string, Duplex>,
): Promise<void> {
  const end = await outcome(container, command, streams).catch((error: unknown) => failure(String(error)))
  streams.get('error')?.write(Buffer.from(JSON.stringify(end)))
  await Promise.all([...streams.values()].map((stream) => new Promise<void>((resolve) => stream.end(() => resolve()))))
}

async function outcome(
  container: Container,
  command: readonly string[],
  streams: ReadonlyMap<string, Duplex>,
): Promise<object> {
  const child = container.exec(command)
  const [stdin, stdout, stderr] = ['stdin', 'stdout', 'stderr'].map((type) => streams.get(type))
  child.stdin?.on('error', () => undefined)
  if (child.stdin !== null && stdin !== undefined) stdin.pipe(child.stdin)
  else child.stdin?.end()
  child.stdout?.on('data', (chunk: Buffer) => stdout?.write(chunk))
  child.stderr?.on('data', (chunk: Buffer) => stderr?.write(chunk))
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (ended) => resolve(ended ?? 137))
  })
  if (code === 0) return { metadata: {}, status: 'Success' }
  return {
    ...failure(`command terminated with non-zero exit code: ${code}`),
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  }
}

function failure(message: string): object {
  return { metadata: {}, status: 'Failure', message }
}
