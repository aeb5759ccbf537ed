import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Program, startProgram } from '../process.ts'
import { type RequestPath, startRequestPaths } from './request-paths.ts'

/** The source files with a function that ran, relative to the root of the repository, by the name of the request path. */
type TracedFiles = ReadonlyMap<string, readonly string[]>

/** A file counts when it runs in each of these requests: timers run in some of them only. */
const TRACED_REQUESTS = 3
/** Connections, lazily loaded modules and caches are there after these requests. */
const WARM_UP_REQUESTS = 4

/**
 * `traceFiles` starts the gateway from its sources with one worker, sends requests over real sockets, and returns the
 * files of `packages/` that one warmed-up request of each path runs in the worker.
 */
export async function traceFiles(): Promise<TracedFiles> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-trace-'))
  const socket = join(folder, 'coverage.sock')
  const config = join(folder, 'gateway.yaml')
  await using paths = await startRequestPaths()
  writeFileSync(
    config,
    JSON.stringify({ binds: paths.list.map(({ routes }) => ({ port: 0, listeners: [{ routes }] })) }),
  )
  const program = await startProgram({
    command: [process.execPath, `--import=${COVERAGE_SERVER}`, ENTRY, '-f', config],
    env: { TRACE_FILES_SOCKET: socket, WORKER_THREADS: '1', SEPARATE_WORKER: 'true' },
  })
  try {
    const traced = new Map<string, readonly string[]>()
    for (const [index, path] of paths.list.entries()) {
      traced.set(path.name, await traceFilesOf(path, program.port(index), program, socket))
    }
    return traced
  } finally {
    await program.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function traceFilesOf(path: RequestPath, port: number, program: Program, socket: string): Promise<string[]> {
  // One connection for all requests.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    const send = await path.open(port, agent)
    let files: Set<string> | null = null
    for (let count = 0; count < WARM_UP_REQUESTS + TRACED_REQUESTS; count++) {
      await takeFiles(socket)
      const lines = accessLines(program, path)
      await send()
      await program.logged(new RegExp(`(?:${path.logged}[^]*?){${lines + 1}}`))
      const ran = await takeFiles(socket)
      if (count >= WARM_UP_REQUESTS) files = files === null ? ran : files.intersection(ran)
    }
    return [...(files ?? [])].toSorted()
  } finally {
    agent.destroy()
  }
}

function accessLines(program: Program, path: RequestPath): number {
  return program.stdout().split(path.logged).length - 1
}

async function takeFiles(socketPath: string): Promise<Set<string>> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  request({ socketPath }, async (response) => resolve((await response.setEncoding('utf8').toArray()).join('')))
    .on('error', reject)
    .end()
  const urls = JSON.parse(await promise) as string[]
  const files = urls.filter((url) => url.startsWith('file:')).map((url) => relative(ROOT, fileURLToPath(url)))
  return new Set(files.filter((file) => SOURCE.test(file) && !file.includes('/testing/')))
}

const ROOT = fileURLToPath(new URL('../../../../..', import.meta.url))
const ENTRY = fileURLToPath(new URL('../../process/cli/start.ts', import.meta.url))
const COVERAGE_SERVER = fileURLToPath(new URL('./coverage-server.mjs', import.meta.url))
const SOURCE = /^packages\/[^/]+\/src\//
