import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { parse } from 'yaml'
import { request } from '../../../gateway/src/testing/client.ts'
import { useGateway, useOrigin } from '../../../gateway/src/testing/scene.ts'
import type { ImportedConfig } from '../core/import-result.ts'
import { printImport } from '../core/print-import.ts'

/** Runs the program of a gateway until the test ends; returns when the port is open. */
export async function useProgram(
  t: TestContext,
  {
    command,
    args,
    file,
    config,
    port,
  }: { command: string; args: (file: string) => string[]; file: string; config: string; port: number },
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-import-'))
  const path = join(folder, file)
  writeFileSync(path, config)
  const child = spawn(command, args(path), {
    cwd: folder,
    env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4_000)))
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  while (!(await canConnect(port))) assert.equal(child.exitCode, null, said)
}

async function canConnect(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  })
  socket.destroy()
  if (!isOpen) await new Promise((resolve) => setTimeout(resolve, 20))
  return isOpen
}

/** Starts servers whose responses contain the number of the server, and the path and host of the request. */
export function useOrigins(t: TestContext, count: number): Promise<number[]> {
  return Promise.all(
    Array.from({ length: count }, async (_each, index) => {
      const origin = await useOrigin(t, (seen, response) => {
        response.end(JSON.stringify({ index, url: seen.url, host: seen.headers.host }))
      })
      return origin.port
    }),
  )
}

/** Starts the gateway with an imported config, and returns its port. */
export async function useImported(t: TestContext, imported: ImportedConfig, from: string): Promise<number> {
  const config = parse(printImport(imported, ['in'], from).config) as { binds: { port: number }[] }
  const gateway = await useGateway(t, { ...config, binds: config.binds.map((bind) => ({ ...bind, port: 0 })) })
  return gateway.port()
}

export interface SentRequest {
  readonly host: string
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Sends a request. Returns the status, a header, and the body, which names the server, path and host; for a redirect,
 * the address without its query.
 */
export async function outcomeOf(port: number, { host, path, method, headers }: SentRequest): Promise<object> {
  const sent = { path, headers: { ...headers, host }, ...(method !== undefined && { method }) }
  const { status, headers: found, body } = await request(port, sent)
  const location = found['location']
  const target = typeof location === 'string' ? new URL(location, `http://${host}`) : null
  return {
    status,
    seen: found['x-seen'] ?? null,
    upstream: status === 200 ? body : null,
    location: target === null ? null : target.origin + target.pathname,
  }
}
