import { createHmac } from 'node:crypto'
import { systemRandom } from '../../state/system-random.ts'
import type {
  ApplyRequest,
  CheckedConfig,
  CheckRequest,
  ConfigHistory,
  PastConfigText,
} from '../../admin/config-edit-view.ts'
import type { ApplyOutcome, CheckOutcome, ConfigEditSource } from '../../admin/config-edit-api.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import type { Gateway } from '../config/gateway.ts'
import type { ConfigTextStore } from '../config/config-text-store.ts'
import type { GenerationHistory } from '../config/config-history.ts'
import type { Reloader } from '../config/reloader.ts'
import { redactedConfigText } from '../admin/redacted-text.ts'
import type { CheckedEdit, EditContext } from './check-edit.ts'
import { whyNotWritten } from '../config/write-file.ts'

export interface ConfigEditorParts extends EditContext {
  text: ConfigTextStore
  gateway: Pick<Gateway, 'ir' | 'generation' | 'served' | 'isNewest' | 'stillWanted'>
  reloader: Pick<Reloader, 'put' | 'expect'> | null
  history: GenerationHistory
  /** Returns why there is no text to compare edits with; null when there is one. */
  noFile: () => string | null
  /** Returns why edits are not allowed; null when they are. */
  closed: () => string | null
  log: Logger
}

/** Checks edited texts of the config, and applies them. */
export class ConfigEditor implements ConfigEditSource {
  readonly #parts: ConfigEditorParts
  /** The key of version hashes, so that a version reveals nothing about redacted values. */
  readonly #key = systemRandom(32)
  /** For a text that was replaced before it went live, the text before it. */
  readonly #neverLive = new Map<string, string>()

  constructor(parts: ConfigEditorParts) {
    this.#parts = parts
  }

  /** Why edits are not allowed, and what to do; null when they are. */
  get closed(): string | null {
    return this.#parts.noFile() ?? this.#parts.closed()
  }

  versionOf(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64url').slice(0, 22)
  }

  async check(request: CheckRequest): Promise<CheckOutcome> {
    const edit = await this.prepare(request)
    return 'kind' in edit ? edit : { kind: 'checked', checked: edit.checked }
  }

  /** Checks an edit without applying it, and returns the config that would go live. */
  async prepare(request: CheckRequest): Promise<CheckedEdit | ClosedOutcome> {
    const file = this.#read()
    return 'kind' in file ? file : this.#examine(request, file.text)
  }

  async apply({ basedOn, ...request }: ApplyRequest): Promise<ApplyOutcome> {
    const { closed } = this
    if (closed !== null) return { kind: 'closed', reason: closed }
    const file = this.#read()
    if ('kind' in file) return file
    if (this.versionOf(file.text) !== basedOn) return CHANGED
    const edit = await this.#examine(request, file.text)
    if ('kind' in edit) return edit
    if (edit.accepted === null) return { kind: 'refused', checked: edit.checked }
    return this.#write(edit.accepted.text, file.text, edit.checked)
  }

  history(): ConfigHistory {
    const { gateway, history } = this.#parts
    return { live: gateway.generation, generations: history.list() }
  }

  past(generation: number): PastConfigText | null {
    const { history } = this.#parts
    const found = history.list().find((each) => each.generation === generation)
    if (found === undefined) return null
    const text = history.text(generation)
    const shown = text === null ? null : redactedConfigText(text)
    return {
      ...found,
      text: shown,
      reason: shown === null ? 'the config was too large to be stored, and the file has changed since' : null,
    }
  }

  /** Writes and applies the text; restores the file when the text cannot go live. */
  async #write(text: string, before: string, checked: CheckedConfig): Promise<ApplyOutcome> {
    const { text: held, reloader, gateway, log } = this.#parts
    const wasNewest = gateway.isNewest
    if (reloader === null) return CHANGED
    if (text === before && wasNewest) return this.#live(text)
    let problems: Awaited<ReturnType<Reloader['put']>>
    try {
      problems = await reloader.put({
        text,
        // The file may have changed during the check, so `replace` compares it with `before`.
        write: () => held.replace(text, before),
        takeBack: () => {
          this.#putBack(text, before)
          if (wasNewest) gateway.stillWanted()
        },
      })
    } catch (error) {
      return { kind: 'failed', reason: `the file cannot be written: ${whyNotWritten(error as Error)}` }
    }
    if (problems === 'overtaken') {
      this.#neverLive.set(text, before)
      return CHANGED
    }
    if (problems === 'ending') return { kind: 'closed', reason: held.atTheEnd }
    if (problems.length > 0)
      return { kind: 'refused', checked: { ...checked, effect: null, problems: problems.map(unplaced) } }
    this.#neverLive.clear()
    log.info(`${held.what} changed through the admin API`, { generation: gateway.generation })
    return this.#live(text)
  }

  #putBack(text: string, before: string): void {
    const { text: held, reloader, log } = this.#parts
    const wasLive = this.#lastLive(before)
    try {
      // When the text has changed since, the watch applies the newer text, or a later edit does.
      if (!held.replace(wasLive, text)) return void this.#neverLive.set(text, wasLive)
      reloader?.expect(wasLive)
      log.warn(`${held.what} rolled back: the edit through the admin API could not go live`)
    } catch (error) {
      log.error(`${held.what} could not be rolled back`, { error: (error as Error).message })
    }
  }

  /** The newest text before `text` that was live; an edit may be based on a text that never went live. */
  #lastLive(text: string): string {
    const before = this.#neverLive.get(text)
    this.#neverLive.delete(text)
    return before === undefined ? text : this.#lastLive(before)
  }

  #live(text: string): ApplyOutcome {
    return { kind: 'applied', applied: { generation: this.#parts.gateway.generation, version: this.versionOf(text) } }
  }

  async #examine({ text, generation }: CheckRequest, file: string): Promise<CheckedEdit | ClosedOutcome> {
    const { history, gateway } = this.#parts
    const past = generation === undefined ? undefined : history.text(generation)
    if (past === null) return { kind: 'closed', reason: `config ${generation} is no longer stored` }
    // Loaded at the first check.
    const { checkEdit, baseOf } = await import('./check-edit.ts')
    const base = baseOf(file, () => history.text(gateway.generation))
    if (base === null) return { kind: 'closed', reason: 'the file is not valid YAML: fix it on disk' }
    return checkEdit({ text, base, source: past ?? base, version: this.versionOf(file) }, this.#parts)
  }

  #read(): { text: string } | ClosedOutcome {
    const { text, noFile } = this.#parts
    const reason = noFile()
    if (reason !== null) return { kind: 'closed', reason }
    try {
      return { text: text.read() }
    } catch (error) {
      return { kind: 'closed', reason: `the file cannot be read: ${(error as Error).message}` }
    }
  }
}

type ClosedOutcome = Extract<ApplyOutcome, { kind: 'closed' }>

const CHANGED: ApplyOutcome = {
  kind: 'changed',
  reason: 'the config has changed since it was read: read it again, and make the edit there',
}

/** A problem without a line, such as a port that another program uses: it only shows when the config goes live. */
function unplaced(text: string): CheckedConfig['problems'][number] {
  return { text, line: null, column: null }
}
