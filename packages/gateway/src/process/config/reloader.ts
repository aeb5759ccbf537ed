import type { ConfigSource } from './config-source.ts'
import type { Gateway } from './gateway.ts'
import type { Ir } from '../../ir/resources.ts'
import type { LoadedConfig } from '../../sources/file.ts'
import { firstProblems, printProblem } from '../../sources/print-problems.ts'
import { type ConfigWatch, watchConfig } from '../../sources/files/watch.ts'
import type { Logger } from '../../telemetry/log/logger.ts'

/** The receiver of a reloaded config. */
export interface ReloadTarget extends Pick<Gateway, 'generation' | 'services' | 'refused'> {
  apply(ir: Ir, explain: LoadedConfig['explain']): Promise<string[]>
}

interface Waiting {
  /** The newest text; undefined when the file has to be read first. */
  text: string | undefined
  /** Called with the outcome before the next text is applied; null when a newer text replaced this one. */
  done?: (problems: readonly string[] | null) => void
}

/** A text to write to the file and to apply. */
interface PutText {
  text: string
  /** Writes the text; returns false when the file has changed meanwhile. */
  write: () => boolean
  /** Restores the file after the text could not go live. Called before the file is read again. */
  takeBack: () => void
}

/** The reason why a text did not go live: the file has a newer one, or the process is about to end. */
type PutFailure = 'overtaken' | 'ending'

/** Applies changes of the config file and of the files that it names, one at a time, always the newest. */
export class Reloader {
  /** Called with each config that went live. */
  wentLive: (loaded: LoadedConfig) => void = () => {}
  /** Returns the reasons to reject a valid config, such as failed tests; empty when the config may go live. */
  verify: (loaded: LoadedConfig) => Promise<readonly string[]> = () => Promise.resolve([])
  readonly #source: ConfigSource
  readonly #watch: ConfigWatch
  /** Files that the live config names: certificates, keys. */
  #files: readonly string[] = []
  #target: { gateway: ReloadTarget; log: Logger } | null = null
  /** The `config` block that the process was started with. */
  #settings: string | null = null
  #running = false
  #isClosed = false
  #waiting: Waiting | null = null

  /** Starts to watch. Create it before the config is read for the first time, so that no change is missed. */
  constructor(source: ConfigSource) {
    this.#source = source
    // A text without a file changes by `put` only, and cannot name files.
    this.#watch = source.path === null ? NO_WATCH : watchConfig(source.path, (text) => this.#take(text))
  }

  /** Called right after the config was read. */
  watch(loaded: LoadedConfig): void {
    this.#files = loaded.files
    this.#settings ??= startSettings(loaded)
    this.#watch.update(loaded.files)
  }

  /** Starts to apply changes, including those since the first read. */
  start(gateway: ReloadTarget, log: Logger): void {
    this.#target = { gateway, log }
    this.#next()
  }

  /** Reads the file now. */
  reload(): void {
    this.#wait({ text: undefined })
  }

  /** Writes a text and applies it. Returns the problems that keep it from going live. */
  put({ text, write, takeBack }: PutText): Promise<readonly string[] | PutFailure> {
    if (this.#isClosed) return Promise.resolve('ending')
    if (!write()) return Promise.resolve('overtaken')
    // Written and announced without a pause, so that the watch does not take the text for a change from outside.
    this.#watch.expect(text)
    return new Promise((done) =>
      this.#wait({
        text,
        done: (problems) => {
          if (problems !== null && problems.length > 0) {
            takeBack()
            return done(problems)
          }
          // Workers that are ending accept every config.
          done(this.#isClosed ? 'ending' : (problems ?? 'overtaken'))
        },
      }),
    )
  }

  /** Announces that the file has its text from before a failed `put` again. */
  expect(text: string): void {
    this.#watch.expect(text)
  }

  close(): void {
    this.#isClosed = true
    this.#watch.close()
    this.#target = null
    this.#waiting?.done?.(null)
    this.#waiting = null
  }

  /** Takes the text that the watch read once the file was stable: a later read could see a half-written file. */
  #take(text: string | null): void {
    this.#wait({ text: text ?? undefined })
  }

  #wait(waiting: Waiting): void {
    const before = this.#waiting
    // The text of a waiting `put` is in the file already, so a reload would read nothing newer.
    const isSame = waiting.done === undefined && (waiting.text === undefined || waiting.text === before?.text)
    if (before?.done !== undefined && isSame) return
    before?.done?.(null)
    this.#waiting = waiting
    this.#next()
  }

  #next(): void {
    const waiting = this.#waiting
    if (this.#running || waiting === null || this.#target === null) return
    this.#waiting = null
    this.#running = true
    void this.#run(waiting.text, this.#target).then((problems) => {
      this.#running = false
      waiting.done?.(problems)
      this.#next()
    })
  }

  /** Loads and applies a config; returns the problems that keep it from going live. */
  async #run(
    text: string | undefined,
    { gateway, log }: { gateway: ReloadTarget; log: Logger },
  ): Promise<readonly string[]> {
    const report = (problems: readonly string[]): readonly string[] => {
      if (problems.length === 0) return problems
      log.error(`config rejected, config ${gateway.generation} stays active`, { problems: problems.length })
      // A log line is one line: hints go behind their problem.
      for (const problem of firstProblems(problems)) log.error(problem.replaceAll(/\n */g, '; '))
      return problems
    }
    try {
      const loaded = await this.#source.load(text)
      if (!loaded.ok) {
        // Files of the live config stay watched, because the config file may return to it.
        this.#watch.update([...new Set([...this.#files, ...loaded.files])])
        return report(gateway.refused(loaded.problems))
      }
      this.watch(loaded)
      this.#noticeSettings(loaded, log)
      for (const warning of loaded.warnings) log.warn(printProblem(warning).replaceAll(/\n */g, '; '))
      if (loaded.endpoints !== undefined) gateway.services.takeAll(Object.entries(loaded.endpoints))
      const unverified = await this.verify(loaded)
      if (unverified.length > 0) return report(gateway.refused([...unverified]))
      const problems = await gateway.apply(loaded.ir, loaded.explain)
      if (problems.length === 0) this.wentLive(loaded)
      return report(problems)
    } catch (error) {
      gateway.refused([])
      log.error(`config could not be read, config ${gateway.generation} stays active`, { error: String(error) })
      return [String(error)]
    }
  }

  /** Addresses, workers and logging are set up once, so a change of the `config` block gets a warning. */
  #noticeSettings(loaded: LoadedConfig, log: Logger): void {
    if (startSettings(loaded) !== this.#settings) {
      log.warn('the `config` block changed: restart the gateway to apply it')
    }
  }
}

/** Returns the settings of the `config` block that only a restart changes. */
function startSettings({ process: { admin: _admin, verify: _verify, ...settings } }: LoadedConfig): string {
  return JSON.stringify(settings)
}

const NO_WATCH: ConfigWatch = { update: () => {}, expect: () => {}, close: () => {} }
