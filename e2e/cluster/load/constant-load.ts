import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Bed } from '../bed/bed.ts'

const PROGRAM = fileURLToPath(new URL('program.ts', import.meta.url))

export interface LoadSettings {
  /** Asked in turn. */
  urls: readonly string[]
  perSecond: number
}

export interface Report {
  total: number
  /** When, which, and what was wrong with the answer. */
  failures: string[]
}

/** Requests at a constant rate from inside of a bed, until it is stopped. */
export class ConstantLoad {
  readonly #child: ChildProcess
  readonly #lines: Interface

  constructor(bed: Bed, { urls, perSecond = 40 }: Partial<LoadSettings> & Pick<LoadSettings, 'urls'>) {
    const settings: LoadSettings = { urls, perSecond }
    const [program = '', ...args] = bed.enter([process.execPath, PROGRAM, JSON.stringify(settings)])
    this.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#lines = createInterface({ input: this.#child.stdout! })
  }

  /** Returns the results since the last report. */
  async report(): Promise<Report> {
    const line = once(this.#lines, 'line')
    this.#child.stdin?.write('\n')
    return JSON.parse(String((await line)[0])) as Report
  }

  /** Asserts that requests arrive during the work, and that none of them fails. */
  async unharmedBy<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.report()
    const result = await work()
    const { total, failures } = await this.report()
    assert.deepEqual(failures, [])
    assert.ok(total > 20, `${total} requests`)
    return result
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.stdin?.end()
    await ended
  }
}
