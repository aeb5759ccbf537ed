import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Ir } from '../../ir/resources.ts'
import { loadConfig, type Locate } from '../../sources/file.ts'

/** The text that a config was read from. */
interface ConfigText {
  text: string
  /** The name of the file in messages. */
  file: string
  dir: string
}

/** A config that was read again, with the locations of its parts. */
interface LocatedConfig {
  ir: Ir
  locate: Locate
}

interface HistoryEntry extends Omit<ConfigText, 'text'> {
  /** Null for a text that is too large to store: the file is read again, if it is still the same. */
  text: string | null
  /** Null for a text that is stored. */
  digest: string | null
  at: number
  characters: number
}

/** An entry of the list of configs that were live. */
interface KeptGeneration {
  generation: number
  /** When the config went live, in milliseconds since 1970. */
  at: number
  characters: number
}

/** Limit for all texts together; larger configs are read from their files again. */
const MAX_CHARACTERS = 1_000_000
const MAX_GENERATIONS = 32
const MAX_WITHOUT_TEXT = 8
const MAX_REPEATS = 256

/** The configs that were live, to find the locations of their parts later. */
export class GenerationHistory {
  readonly #kept = new Map<number, HistoryEntry>()
  /** Configs of sources without a text; unchanged parts of two generations are the same objects. */
  readonly #irs = new Map<number, Ir>()
  /** Generations that differ from an earlier generation by a rehearsal only, with the number of the earlier generation. */
  readonly #repeats = new Map<number, number>()
  /** The config that was looked up last, because questions about requests come in groups. */
  #last: { generation: number; config: WeakRef<LocatedConfig> } | null = null

  keep(generation: number, { text, file, dir }: ConfigText): void {
    const isLarge = text.length > MAX_CHARACTERS
    this.#kept.set(generation, {
      ...{ file, dir, at: Date.now(), characters: text.length },
      ...(isLarge ? { text: null, digest: hash('sha256', text, 'base64') } : { text, digest: null }),
    })
    for (const [oldest] of this.#kept) {
      if (this.#kept.size <= MAX_GENERATIONS && this.#characters() <= MAX_CHARACTERS) break
      if (oldest !== generation) this.#kept.delete(oldest)
    }
  }

  /** Stores a config that does not come from a file. */
  keepWithoutText(generation: number, ir: Ir): void {
    this.#irs.set(generation, ir)
    for (const [oldest] of this.#irs) {
      if (this.#irs.size <= MAX_WITHOUT_TEXT) break
      this.#irs.delete(oldest)
    }
  }

  /** Makes a generation share the text and the locations of an earlier generation. */
  repeat(generation: number, before: number): void {
    this.#repeats.set(generation, this.#originOf(before))
    for (const [oldest] of this.#repeats) {
      if (this.#repeats.size <= MAX_REPEATS) break
      this.#repeats.delete(oldest)
    }
  }

  #originOf(generation: number): number {
    return this.#repeats.get(generation) ?? generation
  }

  findWithoutText(generation: number): { ir: Ir; locate: null } | null {
    const ir = this.#irs.get(this.#originOf(generation))
    return ir === undefined ? null : { ir, locate: null }
  }

  /** Newest first. */
  list(): KeptGeneration[] {
    return [...this.#kept].map(([generation, { at, characters }]) => ({ generation, at, characters })).toReversed()
  }

  /** The text of a generation; null when it is not kept, or can no longer be read. */
  text(generation: number): string | null {
    const kept = this.#kept.get(this.#originOf(generation))
    return kept === undefined ? null : (kept.text ?? readAgain(kept))
  }

  /** The config of a generation; null when it is not kept, or can no longer be read. */
  find(asked: number): LocatedConfig | null {
    const generation = this.#originOf(asked)
    const known = this.#last?.generation === generation ? this.#last.config.deref() : undefined
    if (known !== undefined) return known
    const kept = this.#kept.get(generation)
    const text = this.text(generation)
    if (kept === undefined || text === null) return null
    const loaded = loadConfig(text, { file: kept.file, dir: kept.dir, env: process.env })
    if (!loaded.ok || loaded.locate === undefined) return null
    const config = { ir: loaded.ir, locate: loaded.locate }
    this.#last = { generation, config: new WeakRef(config) }
    return config
  }

  #characters(): number {
    return [...this.#kept.values()].reduce((sum, { text }) => sum + (text?.length ?? 0), 0)
  }
}

function readAgain({ file, digest }: HistoryEntry): string | null {
  try {
    const text = readFileSync(resolve(file), 'utf8')
    return hash('sha256', text, 'base64') === digest ? text : null
  } catch {
    return null
  }
}
