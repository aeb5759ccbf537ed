import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Bed } from '../bed/bed.ts'
import { NODE_ADDRESS } from '../bed/kubelet/node-settings.ts'
import { API_PORT } from '../bed/program-arguments.ts'
import { bedFiles } from '../bed/settings.ts'

const PROGRAM = fileURLToPath(new URL('program.ts', import.meta.url))
const PORT = 7443

export interface ProxySettings {
  listen: { host: string; port: number }
  to: { host: string; port: number }
  /** Files. */
  cert: string
  key: string
  ca: string
}

export interface ProxyOrder {
  /** Ends all connections, and takes no others until it is opened again. */
  isClosed?: boolean
  /** So many of the next events of watches are sent in part, and then the connection is cut. */
  cuts?: number
}

export interface ProxyReport {
  cut: number
  /** Number of refusals by the API server, by status, including those inside watches. */
  refused: Record<string, number>
}

/** Environment variables that send a Pod to the API server through the proxy. */
export const THROUGH_PROXY = { KUBERNETES_SERVICE_HOST: NODE_ADDRESS, KUBERNETES_SERVICE_PORT: String(PORT) }

/** A proxy to the API server whose connections a test can cut. */
export class ApiProxy {
  readonly #child: ChildProcess
  readonly #lines: Interface

  constructor(bed: Bed) {
    const { server, ca } = bedFiles(bed.folder)
    const settings: ProxySettings = {
      listen: { host: NODE_ADDRESS, port: PORT },
      to: { host: NODE_ADDRESS, port: API_PORT },
      ...server,
      ca,
    }
    const [program = '', ...args] = bed.enter([process.execPath, PROGRAM, JSON.stringify(settings)])
    this.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#lines = createInterface({ input: this.#child.stdout! })
  }

  /** Sends an order, and returns the counts since the previous order. */
  async order(order: ProxyOrder): Promise<ProxyReport> {
    const line = once(this.#lines, 'line')
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`)
    return JSON.parse(String((await line)[0])) as ProxyReport
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.stdin?.end()
    await ended
  }
}
