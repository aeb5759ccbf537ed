import type { ConfigSource } from './config-source.ts'
import type { Gateway } from './gateway.ts'
import { printProblems } from './sources/print-problems.ts'
import { type FileWatch, watchFiles } from './sources/watch.ts'
import type { Logger } from './telemetry/logger.ts'

export interface ReloaderOptions {
  source: ConfigSource
  path: string
  /** Files the config names: certificates, keys. */
  files: string[]
  gateway: Gateway
  log: Logger
}

/** Makes changes of the config file, and of files it names, live; one at a time, always the newest. */
export class Reloader {
  readonly #options: ReloaderOptions
  readonly #watch: FileWatch
  #running = false
  #again = false

  constructor(options: ReloaderOptions) {
    this.#options = options
    this.#watch = watchFiles([options.path, ...options.files], () => this.reload())
  }

  reload(): void {
    if (this.#running) {
      this.#again = true
      return
    }
    this.#running = true
    void this.#run().finally(() => {
      this.#running = false
      if (!this.#again) return
      this.#again = false
      this.reload()
    })
  }

  close(): void {
    this.#watch.close()
  }

  async #run(): Promise<void> {
    const { source, path, gateway, log } = this.#options
    try {
      const loaded = source.load()
      if (!loaded.ok) {
        gateway.refused([])
        log.error(`config refused, config ${gateway.generation} stays active\n${printProblems(loaded.problems)}`)
        return
      }
      this.#watch.update([path, ...loaded.files])
      const problems = await gateway.apply(loaded.ir)
      if (problems.length > 0) {
        log.error(`config refused, config ${gateway.generation} stays active`, { problems: problems.join('; ') })
      }
    } catch (error) {
      gateway.refused([])
      log.error(`config not read, config ${gateway.generation} stays active`, { error: String(error) })
    }
  }
}
