// One proxy started for one scenario.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROXY_CORE, startChild } from './children.mjs'
import { startRedis } from './origins/redis.mjs'
import { freePort, untilAnswers } from './ports.mjs'
import { openTail } from './tail.mjs'

let started = 0

/**
 * @param {{ peer: import('./peers/index.mjs').Peer, found: import('./peers/index.mjs').Found, label?: string,
 *   protocol?: 'http' | 'https' | 'h2c' | 'h2', routes?: number, secured?: boolean, logs?: boolean, env?: Record<string, string>,
 *   chat?: import('./scenarios.mjs').Chat, tools?: boolean, unbuffered?: boolean, workers?: number, keys?: number, rules?: import('./scenarios.mjs').Rules, tail?: boolean,
 *   extension?: import('./scenarios.mjs').Extension, backend?: import('./scenarios.mjs').SecureBackend }} what
 * @param {{ dir: string, origin: number, services: number | null, mesh: { ca: number, hbone: number, tls: number, token: string, root: string } | null, certificate: { cert: string, key: string, both: string } | null,
 *   identity: { token: string, jwks: string } }} bench
 * @returns the running proxy, or `{ problem }`
 */
export async function startContender(what, bench) {
  const { peer, found, label = peer.name, protocol = 'http', routes = 1 } = what
  const dir = join(bench.dir, `${++started}-${peer.name}`)
  mkdirSync(dir)
  const port = await freePort()
  const readinessPort = await freePort()
  const { origin, services, certificate } = bench
  const jwks = what.secured ? bench.identity.jwks : null
  const provider = what.chat?.provider ?? null
  const { tools = false, unbuffered = false, workers = 1 } = what
  const redis = what.chat?.spend === 'redis' ? await startRedis(dir) : null
  if (redis?.problem) return redis
  const setup = {
    dir,
    port,
    readinessPort,
    origin,
    services,
    routes,
    protocol,
    certificate,
    jwks,
    provider,
    cache: what.chat?.cache !== undefined,
    spend: what.chat?.spend ?? null,
    stored: what.chat?.stored ?? null,
    redis: redis?.port ?? null,
    tools,
    probed: what.probed ?? false,
    unbuffered,
    logs: what.logs ?? false,
    workers,
    keys: what.keys ?? null,
    rules: what.rules ?? null,
    adminPort: what.tail || what.chat?.spend ? await freePort() : null,
    extension: what.extension ?? null,
    backend: what.backend ?? null,
    mesh: bench.mesh ?? null,
    found,
  }
  const plan = peer.plan(setup)
  for (const [name, text] of Object.entries(plan.files)) writeFileSync(join(dir, name), text)
  const url = `${protocol === 'https' || protocol === 'h2' ? 'https' : 'http'}://127.0.0.1:${port}`
  // A port that speaks only HTTP/2 cannot be probed with HTTP/1.1.
  const asked = plan.ready ?? (protocol === 'h2c' ? `tcp://127.0.0.1:${port}` : `${url}/r0/`)
  const log = join(dir, 'output.log')
  const begun = performance.now()
  const child = startChild({
    command: found.command,
    args: [...(found.args ?? []), ...plan.args],
    env: { ...plan.env, ...what.env },
    cwd: dir,
    core: PROXY_CORE,
    log,
  })
  const problem = await untilAnswers(asked, child, plan.patienceMs)
  const readyMs = performance.now() - begun
  if (problem) {
    await Promise.all([child.stop(), redis?.stop()])
    return { problem: `did not start: ${problem}${lastWords(log)}` }
  }
  const headers = (await plan.makeKey?.()) ?? {}
  const tail = what.tail ? await openTail(setup.adminPort) : null
  /** Returns null while the proxy runs. */
  const death = () => (child.hasEnded() ? `the proxy died${lastWords(log)}` : (tail?.problem() ?? null))
  const stop = async () => {
    tail?.close()
    await Promise.all([child.stop(), redis?.stop()])
  }
  return { label, pid: child.pid, url, port, protocol, dir, headers, readyMs, death, stop }
}

function lastWords(log) {
  const said = readFileSync(log, 'utf8').trim().split('\n').at(-1)
  return said ? ` (${said.slice(0, 120)})` : ''
}
